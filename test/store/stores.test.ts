import { describe, expect, test } from 'vitest'
import { readRecordKey, readReplicaKey } from '../../src/store/stores.js'
import { NEW_DATABASES, type NewDatabase } from './databases.js'

const keyOf = async (on: NewDatabase) => {
  const { database, close } = await on.open()
  const key = Buffer.from(await readRecordKey(database)).toString('hex')
  await close()
  return key
}

describe.each(NEW_DATABASES)('the key of record ids in %s', (_which, create) => {
  test('has 16 bytes, is another one in each database, and stays when it is opened again', async () => {
    const on = await create()
    const key = await keyOf(on)
    expect(key).toMatch(/^[0-9a-f]{32}$/)
    expect(await keyOf(on)).toBe(key)
    expect(await keyOf(await create())).not.toBe(key)
  })

  test('is refused, as that of the replicas, when an operator has written another text', async () => {
    const { database } = await (await create()).open()
    for (const key of ['new secret', 'ab'.repeat(15), 'ab'.repeat(33), '']) {
      await database.updateTable('record_keys').set({ record_key: key }).execute()
      await database.updateTable('replica_keys').set({ replica_key: key }).execute()
      const noKey = (digits: number) => `no key of ${digits} hexadecimal digits in`
      await expect(readRecordKey(database), key).rejects.toThrow(`${noKey(32)} record_keys`)
      await expect(readReplicaKey(database), key).rejects.toThrow(`${noKey(64)} replica_keys`)
    }
  })
})
