import pg from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { destroyConnection } from '../../src/internals/destroy-connection.js'
import { isPgConnectionError } from '../../src/internals/pg-connection-error.js'
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

test('isPgConnectionError recognises each error of a connection without an answer of the server', async () => {
  const { client } = await connect()
  const interrupted = failure(client.query('select pg_sleep(60)'))
  destroyConnection(client)
  const errors = [await interrupted, await failure(client.query('select 1'))]

  const impatient = await connect({ query_timeout: 1 })
  errors.push(await failure(impatient.client.query('select pg_sleep(60)')))

  const pool = new pg.Pool({ connectionString: await createPostgresDatabase(), max: 1 })
  pool.on('error', () => {})
  onTestFinished(() => pool.end())
  const held = await pool.connect()
  pool.options.connectionTimeoutMillis = 1
  errors.push(await failure(pool.connect()))
  held.release()

  expect(errors.map(({ message }) => message)).toEqual([
    'Connection terminated unexpectedly',
    'Client has encountered a connection error and is not queryable',
    'Query read timeout',
    'timeout exceeded when trying to connect',
  ])
  expect(errors.map(isPgConnectionError)).toEqual([true, true, true, true])
})

test('isPgConnectionError does not recognise an error of the server', async () => {
  const { client } = await connect()
  expect(isPgConnectionError(await failure(client.query('select nonsense')))).toBe(false)
})
