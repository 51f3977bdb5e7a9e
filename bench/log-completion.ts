import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import SQLite from 'better-sqlite3'
import { makeLogOlder } from '../test/support/databases/older-log.js'
import type { Benchmark, Row } from './benchmark.js'
import { restCaller } from './callers.js'
import { type ChattyChain, makeChatty } from './chatty-chain.js'
import { quantile } from './load.js'
import { type SolverFixture, startSolverFixture } from './solver-fixture.js'
import { steadyLoad } from './tail.js'

const EVENTS = 40_000
const EVENTS_PER_BLOCK = 50
const SOLVERS = 10
const CONNECTIONS = 100
const WARM_UP_QUOTES = 1000
const ROUNDS = 3
const ROUND_SECONDS = 15
const MAX_SLOWER_MS = 5
const MAX_BACKFILL_MS = 120_000

interface Round {
  readonly latencies: readonly number[]
  /** Events without transaction at the end. */
  readonly left: number
}

/** Quotes while the log of an older version is completed. */
export const logCompletion: Benchmark = {
  name: 'log-completion',
  about:
    `A steady load of quotes while a log of ${EVENTS.toLocaleString('en')} events of an older version in SQLite gets its ` +
    'orders, transactions and times. The reference is the same load on the complete log, in alternating rounds.',
  async collectMetrics() {
    const fixture = await startSolverFixture(SOLVERS, makeChatty)
    const folder = await mkdtemp(join(tmpdir(), 'bench-'))
    try {
      return await measureOn(fixture, folder)
    } finally {
      await fixture.stop()
      await rm(folder, { recursive: true, force: true })
    }
  },
}

async function measureOn(fixture: SolverFixture<ChattyChain>, folder: string) {
  const { fromBlock } = await fixture.chain.emitEvents({ events: EVENTS, eventsPerBlock: EVENTS_PER_BLOCK })
  const start = { [`START_BLOCK_${fixture.chain.chainId}`]: String(fromBlock) }
  const [complete, older] = [join(folder, 'complete.db'), join(folder, 'older.db')]
  await backfill(fixture, { ...start, DB_PATH: complete })
  await copyFile(complete, older)
  await makeLogOlder({ DB_PATH: older })

  /** Quotes of a service on a copy of a log. */
  async function load(log: string): Promise<Round> {
    const path = join(folder, 'service.db')
    await copyFile(log, path)
    const service = await fixture.startService({ ...start, DB_PATH: path })
    await fixture.register(service.url, 0, SOLVERS)
    const url = `${service.url}/v1/${fixture.chain.chainId}/quote`
    const callers = Array.from({ length: CONNECTIONS }, () => restCaller({ url, body: fixture.quoteRequest }))
    try {
      for (let quote = 0; quote < WARM_UP_QUOTES; quote++) await callers[quote % CONNECTIONS]?.call()
      return { latencies: await steadyLoad(callers, ROUND_SECONDS), left: countIncomplete(path) }
    } finally {
      await Promise.all(callers.map((caller) => caller.close()))
      await service.stop()
    }
  }

  const [reference, during]: [Round[], Round[]] = [[], []]
  for (let round = 0; round < ROUNDS; round++) {
    reference.push(await load(complete))
    during.push(await load(older))
  }
  const value = p99Of(during) - p99Of(reference)
  const name = 'completion of a log: p99 of quotes beyond that without it, ms'
  return {
    rows: [toRow('complete', reference), toRow('of an older version', during)],
    findings: [{ name, value, atMost: MAX_SLOWER_MS }],
  }
}

/** Reads all events into the log of a file. */
async function backfill(fixture: SolverFixture, environment: Record<string, string>): Promise<void> {
  const service = await fixture.startService(environment)
  const end = performance.now() + MAX_BACKFILL_MS
  while ((await service.total('aggregator_events_total')) < EVENTS) {
    if (performance.now() > end) throw new Error('the events were not read in time')
    await delay(100)
  }
  await service.stop()
}

/** The number of events that the completion has not reached yet. */
function countIncomplete(path: string): number {
  const file = new SQLite(path, { readonly: true })
  try {
    const count = 'select count(*) from events where transaction_hash is null'
    return file.prepare(count).pluck().get() as number
  } finally {
    file.close()
  }
}

/** The median of the rounds' 99th percentiles. */
function p99Of(rounds: readonly Round[]): number {
  return quantile(
    rounds.map(({ latencies }) => quantile(latencies, 0.99)),
    0.5,
  )
}

function toRow(log: string, rounds: readonly Round[]): Row {
  const latencies = rounds.flatMap((round) => round.latencies)
  const rounded = (value: number) => Math.round(value * 10) / 10
  return {
    log,
    quotes: latencies.length,
    'median ms': rounded(quantile(latencies, 0.5)),
    'p99 ms': rounded(p99Of(rounds)),
    'longest ms': rounded(Math.max(...latencies)),
    'events left at the end': Math.min(...rounds.map(({ left }) => left)),
  }
}
