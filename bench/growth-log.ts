import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MAX_RECENT } from '../src/events/tail-buffer.js'
import { createEventStore } from '../src/store/event-store.js'
import { openSqlite } from '../src/store/sqlite.js'
import { startChain, type TestChain } from '../test/support/chain/chain.js'
import type { Benchmark, Finding, Row } from './benchmark.js'
import { blockWriter } from './block-writer.js'
import { startBuiltService } from './built-service.js'
import { exponentOf, withExponents } from './exponents.js'
import { quantile } from './load.js'
import { latenciesOf } from './order-lists.js'

const SIZES = [10_000, 100_000, 1_000_000]
const EVENTS_PER_BLOCK = 500
const PAGE_SIZE = 200
const LONGEST_REPLAY_MS = 240_000
/** Each server-sent event has one, and the heartbeats of a quiet stream. */
const ID = Buffer.from('\nid: ')
const START = 'start ms'
const REPLAY = 'replay ms'
const LIST = 'order list median ms'

/** The event log by its size. */
export const growthLog: Benchmark = {
  name: 'growth-log',
  about:
    'A log in SQLite, by the number of its events, each a deposit with an order: the start of the service until /health answers, one ' +
    `replay of the whole log as server-sent events, and the first page of ${PAGE_SIZE} orders. The service has the last ${MAX_RECENT} ` +
    'events in memory, so the shortest replay is faster than the others. The exponent is that of the replay, from the row before.',
  async collectMetrics() {
    const chain = await startChain({ bonded: 0 })
    const folder = await mkdtemp(join(tmpdir(), 'bench-'))
    const path = join(folder, 'service.db')
    try {
      // A chain begins without orders: the service would remove those that it finds then.
      await (await startBuiltService(chain, { DB_PATH: path })).stop()
      const rows: Row[] = []
      let written = 0
      for (const events of SIZES) {
        await write(path, chain.chainId, events - written)
        written = events
        rows.push(await measure(chain, path, events))
      }
      return { rows: withExponents(rows, 'events', REPLAY), findings: findingsOf(rows) }
    } finally {
      await chain.stop()
      await rm(folder, { recursive: true, force: true })
    }
  },
}

function findingsOf(rows: readonly Row[]): Finding[] {
  const limits: [figure: string, atMost: number][] = [
    [START, 0.1],
    [REPLAY, 1.1],
    [LIST, 0.2],
  ]
  return limits.map(([figure, atMost]) => ({
    name: `log: exponent of ${figure}`,
    value: exponentOf(rows, 'events', figure),
    atMost,
  }))
}

/** Appends events of orders to the log, through its own store. */
async function write(path: string, chainId: number, events: number): Promise<void> {
  const database = await openSqlite(path)
  try {
    const writer = await blockWriter(createEventStore(database, Date.now), chainId, EVENTS_PER_BLOCK)
    for (let left = events; left > 0; left -= EVENTS_PER_BLOCK) await writer.call()
  } finally {
    await database.destroy()
  }
}

async function measure(chain: TestChain, path: string, events: number): Promise<Row> {
  const start = performance.now()
  const service = await startBuiltService(chain, { DB_PATH: path })
  const startMs = performance.now() - start
  try {
    const replayMs = await replay(service.url, events)
    const list = await latenciesOf(
      `${service.url}/v1/${chain.chainId}/orders?pageSize=${PAGE_SIZE}`,
      PAGE_SIZE,
    )
    return {
      events,
      [START]: startMs,
      [REPLAY]: replayMs,
      'events/s': events / (replayMs / 1000),
      [LIST]: quantile(list, 0.5),
      'order list p99 ms': quantile(list, 0.99),
    }
  } finally {
    await service.stop()
  }
}

/** Reads the whole log. @returns its milliseconds */
async function replay(url: string, events: number): Promise<number> {
  const start = performance.now()
  const signal = AbortSignal.timeout(LONGEST_REPLAY_MS)
  const { body } = await fetch(`${url}/v1/events?after=earliest`, { signal })
  if (body === null) throw new Error('the stream has no body')
  let count = 0
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of body) {
    const bytes = Buffer.concat([rest, chunk])
    for (let at = bytes.indexOf(ID); at !== -1; at = bytes.indexOf(ID, at + ID.length)) count++
    rest = bytes.subarray(-(ID.length - 1))
    if (count >= events) break
  }
  return performance.now() - start
}
