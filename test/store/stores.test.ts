import { describe, expect, test } from 'vitest'
import { readRecordKey, readReplicaKey } from '../../src/store/stores.js'
import { createPostgresDatabase } from './../support/databases/postgres-database.js'
import { NEW_DATABASES, postgresAt, sqliteAt } from './databases.js'

const keyOf = async (on: ReturnType<typeof sqliteAt>) => {
  const { database, close } = await on.open()
  const key = Buffer.from(await readRecordKey(database)).toString('hex')
  await close()
  return key
}

describe.each(NEW_DATABASES)('the key of record ids in %s', (_which, create) => {
  test('has 16 bytes, and stays the same when the database is opened again', async () => {
    const on = await create()
    const key = await keyOf(on)
    expect(key).toMatch(/^[0-9a-f]{32}$/)
    expect(await keyOf(on)).toBe(key)
  })

  test.each(['new secret', 'ab'.repeat(15), 'ab'.repeat(33), ''])(
    'is refused, as that of the replicas, when an operator has written %o',
    async (key) => {
      const { database, close } = await (await create()).open()
      await database.updateTable('record_keys').set({ record_key: key }).execute()
      await database.updateTable('replica_keys').set({ replica_key: key }).execute()
      await expect(readRecordKey(database)).rejects.toThrow('no key of 32 hexadecimal digits in record_keys')
      await expect(readReplicaKey(database)).rejects.toThrow(
        'no key of 64 hexadecimal digits in replica_keys',
      )
      await close()
    },
  )

  test('differs from that of another database', async () => {
    expect(await keyOf(await create())).not.toBe(await keyOf(await create()))
  })
})

test('replicas that start at the same time on an empty database have the same key', async () => {
  const url = await createPostgresDatabase()
  const keys = await Promise.all([1, 2, 3, 4].map(() => keyOf(postgresAt(url))))
  expect(new Set(keys).size).toBe(1)
})

test('without a file, each start has a key of its own', async () => {
  expect(await keyOf(sqliteAt(':memory:'))).not.toBe(await keyOf(sqliteAt(':memory:')))
})
