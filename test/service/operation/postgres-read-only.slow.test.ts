import pg from 'pg'
import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { createPostgresDatabase } from '../../support/databases/postgres-database.js'
import { eventually } from '../../support/eventually.js'
import { startFaultyChain } from '../../support/faults/faulty-chain.js'
import { webSocket } from '../../support/streams/transports.js'

const on = await startFaultyChain({ seed: 91 })

/** Makes a database read-only or writable, in all open connections and in new ones. */
async function setReadOnly(url: string, isReadOnly: boolean): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const name = pg.escapeIdentifier(new URL(url).pathname.slice(1))
  await client.query('set default_transaction_read_only = off')
  await client.query(
    `alter database ${name} set default_transaction_read_only = ${isReadOnly ? 'on' : 'off'}`,
  )
  await client.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  )
  await client.end()
}

it('a read-only PostgreSQL counts as down with its cause, and events are written when it takes them again', async () => {
  const url = await createPostgresDatabase()
  const reasons: object[] = []
  const log = pino({ level: 'error' }, { write: (line: string) => void reasons.push(JSON.parse(line)) })
  await on.start({ DATABASE_URL: url }, { log })
  const events = webSocket.open(on.service.url)
  await events.connected()
  await on.traffic.run({ events: 2, blocks: 2 })
  await events.take(2)
  await setReadOnly(url, true)
  onTestFinished(() => setReadOnly(url, false).catch(() => {}))
  await on.traffic.run({ events: 3, blocks: 2 })
  const health = async () => (await on.service.get('/health')).body
  await eventually(health, ({ database, chains }) => database === 'down' && chains[0].status === 'down')
  expect(reasons).toContainEqual(
    expect.objectContaining({ msg: expect.stringContaining('it is read-only: connect to the primary') }),
  )
  expect(reasons).toContainEqual(
    expect.objectContaining({
      msg: 'events cannot be written',
      reason: expect.stringContaining('read-only transaction'),
    }),
  )
  await setReadOnly(url, false)
  await eventually(health, ({ database, chains }) => database === 'ok' && chains[0].status === 'ok')
  await events.take(5)
  events.leave()
})
