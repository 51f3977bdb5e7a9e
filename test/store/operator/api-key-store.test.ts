import { describe, expect, test } from 'vitest'
import { createApiKey, digestOf } from '../../../src/signing/api-keys.js'
import { createApiKeyStore } from '../../../src/store/operator/api-key-store.js'
import { newKey } from '../../rpc/limits/key-samples.js'
import { DATABASES } from '../databases.js'

const { key } = newKey('acme', { quote: 600, 'open-streams': 200 })

describe.each(DATABASES)('API keys %s', (_where, kind) => {
  const make = kind()

  async function open() {
    const { database } = await (await make()).open()
    return { keys: createApiKeyStore(database), database }
  }

  test('are read as they were saved, the oldest first', async () => {
    const { keys } = await open()
    const later = { ...newKey('later').key, createdAt: 2, expiresAt: 1_900_000_000_000 }
    await keys.save(later)
    await keys.save({ ...key, createdAt: 1 })
    expect(await keys.readAll()).toEqual([{ ...key, createdAt: 1 }, later])
  })

  test('are replaced, all but the day of their last use', async () => {
    const { keys } = await open()
    await keys.save(key)
    await keys.recordUse([key.id, 'unknown'], '2026-11-27')
    const changed = {
      ...key,
      label: 'Acme',
      digest: digestOf(createApiKey().secret),
      limits: {},
      revokedAt: 7,
    }
    await keys.save(changed)
    expect(await keys.readAll()).toEqual([{ ...changed, lastUsedDay: '2026-11-27' }])
  })

  test('have labels of which no two valid keys have the same', async () => {
    const { keys } = await open()
    await keys.save(key)
    await expect(keys.save(newKey('acme').key)).rejects.toThrow()
    await keys.save({ ...key, revokedAt: 1 })
    await keys.save(newKey('acme').key)
    expect(await keys.readAll()).toHaveLength(2)
  })

  test('are stored without their secrets', async () => {
    const { keys, database } = await open()
    const { key: stored, text } = newKey('acme')
    await keys.save(stored)
    const rows = JSON.stringify(await database.selectFrom('api_keys').selectAll().execute())
    expect(rows).not.toContain(text.slice(14))
    expect(rows).toContain(digestOf(text.slice(14)))
  })
})
