import pg from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { destroyConnection } from '../../src/internals/pg.js'
import { createPostgresDatabase } from '../support/databases/postgres-database.js'

/** A connection that closes with the test, and its calls of listeners. */
async function connect(options: pg.ClientConfig = {}) {
  const client = new pg.Client({ connectionString: await createPostgresDatabase(), ...options })
  const onEnd = vi.fn()
  client.on('error', () => {}).on('end', onEnd)
  await client.connect()
  onTestFinished(() => destroyConnection(client))
  return { client, onEnd }
}

const failure = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => new Error('it has succeeded'),
    (error) => error,
  )

test('destroyConnection fails the statement under way and ends the client', async () => {
  const { client, onEnd } = await connect()
  const sleeping = failure(client.query('select pg_sleep(60)'))
  destroyConnection(client)
  expect(await sleeping).toMatchObject({ message: 'Connection terminated unexpectedly' })
  await vi.waitFor(() => expect(onEnd).toHaveBeenCalled())
})
