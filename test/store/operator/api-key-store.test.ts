import { describe, expect, test } from 'vitest'
import { createApiKey, digestOf } from '../../../src/clients/api-key-secret.js'
import { createApiKeyStore } from '../../../src/store/operator/api-key-store.js'
import { newKey } from '../../rpc/limits/key-samples.js'
import { BOTH_DATABASES } from '../databases.js'

const { key } = newKey('acme', { quote: 600, 'open-streams': 200 })

describe.each(BOTH_DATABASES)('API keys %s', (_where, kind) => {
  const make = kind()

  async function open() {
    const { database } = await (await make()).open()
    return { keys: createApiKeyStore(database) }
  }

  test('are read as they were saved, the oldest first', async () => {
    const { keys } = await open()
    const later = { ...newKey('later').key, createdAt: 2, expiresAt: 1_900_000_000_000 }
    await keys.add(later)
    await keys.add({ ...key, createdAt: 1 })
    expect(await keys.readAll()).toEqual([{ ...key, createdAt: 1 }, later])
  })

  test('are changed, and nothing else of them', async () => {
    const { keys } = await open()
    await keys.add(key)
    await keys.recordUse([key.id, 'unknown'], '2026-11-27')
    const digest = digestOf(createApiKey().secret)
    expect(await keys.change(key.id, { digest, changedAt: 1 })).toBe(true)
    expect(await keys.change(key.id, { limits: { quote: 1 }, changedAt: 2 })).toBe(true)
    expect(await keys.readAll()).toEqual([
      { ...key, digest, limits: { quote: 1 }, changedAt: 2, lastUsedDay: '2026-11-27' },
    ])
  })

  test('are revoked for ever, also when another command changes them at the same time', async () => {
    const { keys } = await open()
    await keys.add(key)
    expect(await keys.change(key.id, { revokedAt: 7, changedAt: 7 })).toBe(true)
    expect(await keys.change(key.id, { limits: {}, changedAt: 8 })).toBe(false)
    expect(await keys.change('unknown', { limits: {}, changedAt: 8 })).toBe(false)
    expect(await keys.readAll()).toEqual([{ ...key, revokedAt: 7, changedAt: 7 }])
  })

  test('have labels of which no two keys that are not revoked have the same', async () => {
    const { keys } = await open()
    await keys.add(key)
    await expect(keys.add(newKey('acme').key)).rejects.toThrow()
    await keys.change(key.id, { revokedAt: 1, changedAt: 1 })
    await keys.add(newKey('acme').key)
    expect(await keys.readAll()).toHaveLength(2)
  })
})
