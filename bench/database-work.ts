import { randomBytes } from 'node:crypto'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../packages/protocol/src/clock.js'
import { openTables } from '../src/store/database.js'
import { createEventStore } from '../src/store/events/event-store.js'
import { migrations } from '../src/store/migrations.js'
import {
  type ConnectionPool,
  createConnectionPool,
  POSTGRES_COORDINATION,
} from '../src/store/postgres/postgres.js'
import {
  openRateLimitCounters,
  type RateLimitCounters,
  rateLimitMigrations,
} from '../src/store/postgres/rate-limit-counters.js'
import type { QuoteRecordSchema } from '../src/store/records/quote-record-store.js'
import { createQuoteRecordTable, quoteRecordMigrations } from '../src/store/records/quote-record-table.js'
import type { Schema } from '../src/store/schema.js'
import type { Result, Row } from './benchmark.js'
import { blockWriter } from './block-writer.js'
import type { Caller } from './callers.js'
import type { DatabaseServer } from './database-server.js'
import { closedLoop } from './load.js'
import { rowOf } from './replica-rows.js'

const SECONDS = 1.5
const BLOCKS = [
  { chains: 1, events: 1 },
  { chains: 8, events: 1 },
  { chains: 1, events: 400 },
  { chains: 8, events: 400 },
]
/** The number of connections of a replica. */
const PAGE_EVENTS = 500
const READERS = 3
const CLIENTS = 16
const HIGH_LIMIT = 1_000_000_000
const MINUTE_MS = 60_000
const RECORDS_AT_ONCE = 50
const FLUSHES = 100
/** CPU milliseconds of PostgreSQL. */
const PAGE_BYTES = 8192

/**
 * The CPU time of one PostgreSQL, through the stores of the service.
 * @param record of a quote, as stored
 */
export async function measureDatabase(server: DatabaseServer, record: string): Promise<Result> {
  const databaseUrl = await server.createDatabase()
  const pool = createConnectionPool(databaseUrl)
  const counters = openRateLimitCounters({ databaseUrl, isUp: () => true, clock: systemClock })
  const use = { server, pool, counters }
  try {
    const rows = [await measureLog(use), await measureRecords(use, record), await measureCounts(use)]
    return { rows: rows.flat(), findings: [] }
  } finally {
    await counters.close()
    await pool.close()
  }
}

interface Use {
  readonly server: DatabaseServer
  readonly pool: ConnectionPool
  readonly counters: RateLimitCounters
}

async function measureLog({ server, pool }: Use): Promise<Row[]> {
  const database = await openTables<Schema>(pool.dialect(), { migrations })
  const store = createEventStore(database, Date.now, POSTGRES_COORDINATION)
  const rows: Row[] = []
  for (const { chains, events } of BLOCKS) {
    const writers = Array.from({ length: chains }, (_, index) => blockWriter(store, 1 + index, events))
    const what = `events, ${events} in a block, of ${chains} ${chains === 1 ? 'chain' : 'chains'}`
    rows.push(await collectMetrics(server, what, await Promise.all(writers), events))
  }
  const { lastSequence } = await store.readState()
  const reader = callerOf(() => store.readAfter(lastSequence - 1, PAGE_EVENTS))
  const readers = Array.from({ length: READERS }, () => reader)
  return [...rows, await collectMetrics(server, `reads of one new event, ${READERS} at once`, readers)]
}

/** What the operator finds a record by. */
const KEYS = {
  chainId: 1,
  user: `0x${'1a'.repeat(20)}`,
  inputToken: `0x${'2b'.repeat(20)}`,
  outputToken: `0x${'3c'.repeat(20)}`,
  outcome: 'quoted',
} as const

async function measureRecords({ server, pool }: Use, record: string): Promise<Row[]> {
  const tables = { migrations: quoteRecordMigrations, migrationTable: 'quote_record_migration' }
  const database = await openTables<QuoteRecordSchema>(pool.dialect(), tables)
  const table = createQuoteRecordTable(database, Number.MAX_SAFE_INTEGER)
  const newRecord = () => ({
    ...KEYS,
    record,
    quoteId: randomBytes(16).toString('hex'),
    requestedAt: Date.now(),
  })
  const writer = callerOf(() => table.save(Array.from({ length: RECORDS_AT_ONCE }, newRecord)))
  const what = `records of ${record.length} bytes, ${RECORDS_AT_ONCE} in a statement`
  return [await collectMetrics(server, what, [writer], RECORDS_AT_ONCE)]
}

async function measureCounts({ server, pool, counters }: Use): Promise<Row[]> {
  const tables = { migrations: rateLimitMigrations, migrationTable: 'rate_limit_migration' }
  await openTables(pool.dialect(), tables)
  const limiter = counters.limiterOf('bench', HIGH_LIMIT, MINUTE_MS)
  const countersOf = (clients: number) =>
    Array.from({ length: CLIENTS }, (_, index) =>
      callerOf(() => limiter.consume(`client ${index % clients}`)),
    )
  return [
    await collectMetrics(server, `counts of ${CLIENTS} clients at once`, countersOf(CLIENTS)),
    await collectMetrics(server, `counts of one client, ${CLIENTS} at once`, countersOf(1)),
  ]
}

/** @param each the number of counted items in one call */
async function collectMetrics(
  server: DatabaseServer,
  what: string,
  callers: readonly Caller[],
  each = 1,
): Promise<Row> {
  const cpuBefore = server.cpuSeconds()
  const { calls, seconds, latencies: times } = await closedLoop(callers, SECONDS)
  const databaseCpuMs = ((server.cpuSeconds() - cpuBefore) * 1000) / (calls * each)
  return rowOf('database', what, { perSecond: (calls * each) / seconds, times, databaseCpuMs })
}

/** The duration of a flush on the disk of the temporary folder, for which a commit would wait. */
export async function measureFlush(): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'))
  const file = await open(join(folder, 'flushed'), 'w')
  const page = Buffer.alloc(PAGE_BYTES)
  const times: number[] = []
  try {
    for (let flush = 0; flush < FLUSHES; flush++) {
      const start = performance.now()
      await file.write(page)
      await file.datasync()
      times.push(performance.now() - start)
    }
  } finally {
    await file.close()
    await rm(folder, { recursive: true })
  }
  return { rows: [rowOf('disk', `a page of ${PAGE_BYTES} bytes, flushed`, { times })], findings: [] }
}

function callerOf(work: () => Promise<unknown>): Caller {
  return {
    call: async () => void (await work()),
    close: async () => {},
  }
}
