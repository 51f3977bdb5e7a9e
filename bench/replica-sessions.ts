import { setTimeout as delay } from 'node:timers/promises'
import { RELAYING } from '../test/support/replicas/relay.js'
import type { Benchmark, Result, Row } from './benchmark.js'
import { type BuiltReplicas, startBuiltReplicas } from './built-replicas.js'
import { type BuiltService, NO_LIMITS } from './built-service.js'
import { type Caller, postJson, restCaller } from './callers.js'
import { type DatabaseServer, startDatabaseServer } from './database-server.js'
import { quantile } from './load.js'
import { rowOf } from './replica-rows.js'
import { startSessionPool } from './sessions.js'
import { type SolverFixture, startSolverFixture } from './solver-fixture.js'

const REPLICAS = 3
/** The numbers of solvers with sessions. One more solver has an endpoint. */
const SIZES = [1, 10]
const MOST = Math.max(...SIZES)
const SAMPLES = 1000
const PAUSE_MS = 5
/** Longer than the time in which a replica finds that another one is frozen, and shorter than a lease. */
const FROZEN_MS = 4000
/** Quotes take less when they wait for no replica that is gone. */
const QUICK_MS = 200
const QUOTE_TIMEOUT_MS = 2000

/** Quotes of solvers whose sessions are at another replica. */
export const replicaSessions: Benchmark = {
  name: 'replica-sessions',
  about:
    `Quotes at one of ${REPLICAS} replicas on one PostgreSQL, whose solvers have sessions at the same replica or at another one, ` +
    'one after the other, in turns. Then quotes at another replica while the holder of the sessions is frozen, and after it ' +
    'was killed, with one more solver at an endpoint.',
  async collectMetrics() {
    const server = await startDatabaseServer()
    try {
      const fixture = await startSolverFixture(MOST + 1)
      try {
        return await measureFleet(fixture, server)
      } finally {
        await fixture.stop()
      }
    } finally {
      await server.stop()
    }
  },
}

async function measureFleet(fixture: SolverFixture, server: DatabaseServer): Promise<Result> {
  const { chain } = fixture
  const limits = { ...NO_LIMITS, MAX_QUOTE_FAN_OUT: String(MOST + 1) }
  const environment = { ...limits, ...RELAYING, QUOTE_TIMEOUT_MS: String(QUOTE_TIMEOUT_MS) }
  const databaseUrl = await server.createDatabase()
  const fleet = await startBuiltReplicas({ chain, databaseUrl, size: REPLICAS, environment })
  const pool = await startSessionPool(fixture)
  try {
    const [holder, other] = fleet.replicas()
    if (holder === undefined || other === undefined) throw new Error('too few replicas')
    const latencies: Result[] = []
    for (const [index, to] of SIZES.entries()) {
      await pool.connect({ url: holder.url, transport: 'websocket', from: SIZES[index - 1] ?? 0, to })
      latencies.push(await measureLatency(fixture, holder, other, to))
    }
    await fixture.register(other.url, MOST, MOST + 1)
    const failures = await measureFailures(fixture, fleet, holder, other)
    return {
      rows: [...latencies, failures].flatMap(({ rows }) => rows),
      findings: [...latencies, failures].flatMap(({ findings }) => findings),
    }
  } finally {
    await pool.stop()
    await fleet.stop()
  }
}

/** The time of quotes at the holder of the sessions, and at another replica. */
async function measureLatency(
  fixture: SolverFixture,
  holder: BuiltService,
  other: BuiltService,
  solvers: number,
): Promise<Result> {
  for (const { url } of [holder, other]) await untilOffers(fixture, url, solvers)
  const callers = [holder, other].map(({ url }) => quoteCaller(fixture, url))
  const times: [number[], number[]] = [[], []]
  for (let sample = 0; sample < SAMPLES; sample++)
    for (const [index, caller] of callers.entries()) {
      times[index]?.push(await timeOf(caller))
      await delay(PAUSE_MS)
    }
  await Promise.all(callers.map((caller) => caller.close()))
  const [atHolder, atOther] = times
  const what = `quotes of ${solvers} session solvers`
  return {
    rows: [
      rowOf(what, 'at the replica that holds the sessions', { times: atHolder }),
      rowOf(what, 'at another replica', { times: atOther }),
    ],
    findings: [
      {
        name: `${what}: latency that another replica adds, median, ms`,
        value: quantile(atOther, 0.5) - quantile(atHolder, 0.5),
        atMost: 1.5,
      },
    ],
  }
}

/** Quotes at another replica, while the holder of the sessions is frozen and after it was killed. */
async function measureFailures(
  fixture: SolverFixture,
  fleet: BuiltReplicas,
  holder: BuiltService,
  other: BuiltService,
): Promise<Result> {
  await untilOffers(fixture, other.url, MOST + 1)
  holder.freeze()
  const frozen = await quotesFor(fixture, other, FROZEN_MS)
  const thawedAt = performance.now()
  holder.thaw()
  await untilOffers(fixture, other.url, MOST + 1)
  const back = performance.now() - thawedAt
  await fleet.kill(holder)
  const killed = await quotesFor(fixture, other, FROZEN_MS)
  const row = (what: string, times: readonly number[]): Row => rowOf('failover', what, { times })
  return {
    rows: [
      row('quotes at another replica while the holder is frozen', frozen.times),
      row('from the freeze until quotes do not wait for it', [frozen.waitedMs]),
      row('from its end until its sessions are asked again', [back]),
      row('quotes at another replica after kill -9 of the holder', killed.times),
      row('from kill -9 until quotes do not wait for it', [killed.waitedMs]),
    ],
    findings: [
      {
        name: 'frozen holder: time until quotes do not wait for it, ms',
        value: frozen.waitedMs,
        atMost: 2000,
      },
      {
        name: 'killed holder: time until quotes do not wait for it, ms',
        value: killed.waitedMs,
        atMost: 2000,
      },
    ],
  }
}

/** Asks for quotes one after the other. @returns their times, and the time until the last one that waited has ended */
async function quotesFor(fixture: SolverFixture, { url }: BuiltService, durationMs: number) {
  const caller = quoteCaller(fixture, url)
  const times: number[] = []
  const start = performance.now()
  let waitedMs = 0
  while (performance.now() - start < durationMs) {
    const time = await timeOf(caller)
    times.push(time)
    if (time > QUICK_MS) waitedMs = performance.now() - start
    await delay(PAUSE_MS)
  }
  await caller.close()
  return { times, waitedMs }
}

async function timeOf(caller: Caller): Promise<number> {
  const start = performance.now()
  await caller.call()
  return performance.now() - start
}

function quoteCaller({ chain, quoteRequest }: SolverFixture, url: string): Caller {
  return restCaller({ url: `${url}/v1/${chain.chainId}/quote`, body: quoteRequest })
}

async function untilOffers(
  { chain, quoteRequest }: SolverFixture,
  url: string,
  count: number,
): Promise<void> {
  for (;;) {
    const quoted = await postJson(`${url}/v1/${chain.chainId}/quote`, quoteRequest).catch(() => undefined)
    if (quoted !== undefined && quoted.alternativeQuotes.length + 1 === count) return
    await delay(20)
  }
}
