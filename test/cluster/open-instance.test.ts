import { connect as connectTo, createServer } from 'node:net'
import { inspect } from 'node:util'
import { pino } from 'pino'
import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../packages/protocol/src/clock.js'
import { openInstance } from '../../src/cluster/open-instance.js'
import type { Stores } from '../../src/store/stores.js'
import { header, newBlocks, publishedEntries, SETTLEMENT, settled } from '../store/events/event-samples.js'
import { connect } from '../store/postgres/postgres-stores-samples.js'
import { NO_LIMIT, solver } from '../store/solvers/solver-samples.js'
import { createPostgresDatabase } from '../support/databases/postgres-database.js'
import { storedRecord } from '../support/databases/stored-record.js'
import { temporaryFile } from '../support/databases/temporary-file.js'
import { eventually } from '../support/eventually.js'
import { freePort } from '../support/free-port.js'
import { listen } from '../support/listen.js'
import { until } from './replica-samples.js'

const SECRET = 's3cret-word'
const NOW = 1_800_000_000_000

/** Opens stores until the end of the test. @returns the stores and their log */
async function open(where: { dbPath?: string; databaseUrl?: string }) {
  const lines: string[] = []
  const { stores, cluster, ...instance } = await openInstance({
    dbPath: ':memory:',
    databaseUrl: undefined,
    rateLimitStore: 'memory',
    quoteRecordHours: 24,
    quoteRecordMaxBytes: 2 ** 20,
    solverAllowlist: false,
    onDropped() {},
    clock: { ...systemClock, now: () => NOW },
    log: pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) }),
    ...where,
  })
  let closed: Promise<void> | undefined
  const close = () => {
    closed ??= instance.close()
    return closed
  }
  onTestFinished(close)
  return { ...stores, cluster, close, lines }
}

const connections = async (client: Awaited<ReturnType<typeof connect>>) => {
  const { rows } = await client.query(`select pid from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`)
  return rows.length
}

/** Writes to each store, and reads it back from another replica's stores. */
async function shareEverything(writer: Stores, reader: Stores): Promise<void> {
  await writer.solvers.save(solver(1), 100, NO_LIMIT)
  expect(await reader.solvers.readAll()).toEqual([solver(1)])
  const token = await writer.events.takeOver(1)
  await writer.events.begin(token, SETTLEMENT, header(10))
  const events = [settled(1, 11, 0)]
  await writer.events.append(token, newBlocks(11, 11, events))
  expect(await reader.events.readAfter(0, 10)).toStrictEqual(publishedEntries(1, ...events))
  expect(await reader.events.readState()).toEqual(await writer.events.readState())
  await writer.quoteRecords?.save([storedRecord({ quoteId: 'q', requestedAt: NOW })])
  expect(await reader.quoteRecords?.read('q')).toBe('{}')
}

describe('stores', () => {
  test('of one process are kept in files, and it has every leadership', async () => {
    const dbPath = temporaryFile()
    const first = await open({ dbPath })
    await shareEverything(first, first)
    expect([first.cluster.isDatabaseUp(), first.limiterOf]).toEqual([true, undefined])
    let elections = 0
    await first.cluster.acquire('chain 1', { onAcquired: () => elections++, onLost() {} })
    expect(elections).toBe(1)
    await first.close()
    expect(await (await open({ dbPath })).solvers.readAll()).toEqual([solver(1)])
  })

  test('of replicas are shared, notify each other, and close at the end', async () => {
    const databaseUrl = await createPostgresDatabase()
    const [first, second] = await Promise.all([open({ databaseUrl }), open({ databaseUrl })])
    const received: string[] = []
    second.cluster.listen('solvers', { onMessage: (text) => received.push(text), onMissed() {} })
    await shareEverything(first, second)
    await until(() => received.length > 0)
    expect(received).toEqual(['1'])
    await first.close()
    await second.close()
    const client = await connect(databaseUrl)
    expect(
      await eventually(
        () => connections(client),
        (count) => count === 0,
      ),
    ).toBe(0)
    expect([...first.lines, ...second.lines]).toEqual([])
  })
})

test('stores of a database that does not answer at first are opened', async () => {
  const target = new URL(await createPostgresDatabase())
  let refused = 0
  const server = createServer((socket) => {
    if (++refused <= 2) return void socket.destroy()
    const way = connectTo(Number(target.port), target.hostname)
    for (const end of [socket, way]) end.on('error', () => {})
    socket.pipe(way).pipe(socket)
  })
  onTestFinished(() => void server.close())
  const databaseUrl = new URL(target)
  databaseUrl.host = new URL((await listen(server)).url).host
  const { lines, close } = await open({ databaseUrl: databaseUrl.href })
  expect(lines.filter((line) => line.includes('trying again'))).toHaveLength(2)
  await close()
})

describe('the error for an unusable database names it without its password:', () => {
  /** The port of a server that answers nothing. */
  async function silentPort(): Promise<number> {
    const server = createServer((socket) => socket.resume().on('error', () => {}))
    onTestFinished(() => void server.close())
    return (await listen(server)).port
  }
  const at = (port: number) => `postgres://me:${SECRET}@127.0.0.1:${port}/quotes`
  async function changed(change: (url: URL) => void): Promise<string> {
    const url = new URL(await createPostgresDatabase())
    url.password = SECRET
    change(url)
    return url.href
  }

  test.each([
    ['no server listens', async () => at(await freePort()), /ECONNREFUSED/],
    ['no server answers', async () => at(await silentPort()), /time/],
    [
      'a database that does not exist',
      () => changed((url) => (url.pathname = '/nowhere')),
      /database "nowhere" does not exist/,
    ],
    [
      'a user that does not exist',
      () => changed((url) => (url.username = 'nobody')),
      /role "nobody" does not exist/,
    ],
    ['a certificate that is not there', async () => `${at(1)}?sslrootcert=/nowhere.pem`, /ENOENT/],
    [
      'TLS that the server does not have',
      () => changed((url) => (url.search = '?sslmode=verify-full')),
      /SSL/,
    ],
  ])('%s', async (_what, createUrl, message) => {
    const error = await open({ databaseUrl: await createUrl() }).catch((error) => error)
    expect(error).toMatchObject({
      name: 'ConfigError',
      issues: [{ variable: 'DATABASE_URL', message: expect.stringMatching(message) }],
    })
    expect(error.message).toMatch(/^DATABASE_URL cannot be used: /)
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(SECRET)
  })
})
