import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { writeEventLog } from '../test/support/databases/event-log-file.js'
import type { Benchmark, Row } from './benchmark.js'
import { restCaller } from './callers.js'
import { quantile } from './load.js'
import type { FlooderOptions } from './replay-flooder.js'
import { type SolverFixture, startSolverFixture, startTypeScript } from './solver-fixture.js'
import { steadyLoad } from './tail.js'

const EVENTS = 300_000
const SOCKETS = 400
/** The number of local addresses of the sockets in a flood from many clients. */
const ADDRESSES = 100
const SOLVERS = 10
const CONNECTIONS = 100
const WARM_UP_QUOTES = 1000
/** The interval at which each socket starts again, since a replay without matches ends soon. */
const REOPEN_MS = 5000
/** The time in which the service must see that the sockets have gone. */
const SETTLE_MS = 1000
/** Rounds without and with a flood alternate, so that other work on the machine affects both. */
const ROUNDS = 5
const ROUND_SECONDS = 4
const MAX_SLOWER_MS = 20

interface Round {
  readonly latencies: readonly number[]
  readonly cpuSeconds: number
}

interface Flood {
  readonly name: string
  /** The filter of a socket, in addition to the oldest cursor. */
  filter(socket: number): string
  readonly addresses: number
  /** Whether it must not make quotes slower than the threshold allows. */
  readonly isBound: boolean
}

const orderOf = (socket: number) => `&orderId=0x${socket.toString(16).padStart(64, '0')}`
const FLOODS: readonly Flood[] = [
  { name: 'orders that are not there, one address', filter: orderOf, addresses: 1, isBound: true },
  { name: 'orders that are not there', filter: orderOf, addresses: ADDRESSES, isBound: true },
  { name: 'a type that did not happen', filter: () => '&type=Reverted', addresses: ADDRESSES, isBound: true },
  {
    name: 'a type and an address',
    filter: (socket) => `&type=Reverted&type=Settled&solver=0x${socket.toString(16).padStart(40, '0')}`,
    addresses: ADDRESSES,
    isBound: true,
  },
  { name: 'everything', filter: () => '', addresses: ADDRESSES, isBound: false },
]

/** Quotes during a flood of replays. */
export const replayFlood: Benchmark = {
  name: 'replay-flood',
  about:
    `A steady load of quotes while ${SOCKETS} WebSockets replay a log of ${EVENTS.toLocaleString('en')} events from its ` +
    `beginning, with filters that match nothing, and start again every ${REOPEN_MS / 1000} s. The reference is the same ` +
    'load without them, in alternating rounds.',
  async collectMetrics() {
    const fixture = await startSolverFixture(SOLVERS)
    const folder = await mkdtemp(join(tmpdir(), 'bench-'))
    try {
      const path = join(folder, 'service.db')
      const cursor = await writeEventLog(path, EVENTS)
      return await measureOn(fixture, path, cursor)
    } finally {
      await fixture.stop()
      await rm(folder, { recursive: true, force: true })
    }
  },
}

async function measureOn(fixture: SolverFixture, path: string, cursor: string) {
  const service = await fixture.startService({ DB_PATH: path })
  await fixture.register(service.url, 0, SOLVERS)
  const url = `${service.url}/v1/${fixture.chain.chainId}/quote`
  const callers = Array.from({ length: CONNECTIONS }, () => restCaller({ url, body: fixture.quoteRequest }))
  try {
    for (let quote = 0; quote < WARM_UP_QUOTES; quote++) await callers[quote % CONNECTIONS]?.call()
    const load = async (): Promise<Round> => {
      const cpuBefore = await service.cpuSeconds()
      const latencies = await steadyLoad(callers, ROUND_SECONDS)
      return { latencies, cpuSeconds: (await service.cpuSeconds()) - cpuBefore }
    }
    const optionsOf = ({ filter, addresses }: Flood): FlooderOptions => ({
      urls: Array.from(
        { length: SOCKETS },
        (_, index) => `${service.socketUrl}?after=${cursor}${filter(index)}`,
      ),
      addresses,
      reopenMs: REOPEN_MS,
    })
    const rows: Row[] = []
    const findings = []
    for (const flood of FLOODS) {
      const quiet: Round[] = []
      const loaded: Round[] = []
      for (let round = 0; round < ROUNDS; round++) {
        quiet.push(await load())
        const flooder = startTypeScript('bench/replay-flooder.ts', JSON.stringify(optionsOf(flood)))
        await flooder.waitFor(/flooding/)
        await delay(REOPEN_MS)
        loaded.push(await load())
        await flooder.end()
        await delay(SETTLE_MS)
      }
      rows.push(toRow('none', quiet), toRow(flood.name, loaded))
      if (!flood.isBound) continue
      const value = p99Of(loaded) - p99Of(quiet)
      findings.push({
        name: `${SOCKETS} replays of ${flood.name}: p99 of quotes beyond that without them, ms`,
        value,
        atMost: MAX_SLOWER_MS,
      })
    }
    return { rows, findings }
  } finally {
    await Promise.all(callers.map((caller) => caller.close()))
  }
}

/** The median of the rounds' 99th percentiles. */
function p99Of(rounds: readonly Round[]): number {
  return quantile(
    rounds.map(({ latencies }) => quantile(latencies, 0.99)),
    0.5,
  )
}

function toRow(replays: string, rounds: readonly Round[]): Row {
  const latencies = rounds.flatMap((round) => round.latencies)
  const rounded = (value: number) => Math.round(value * 10) / 10
  return {
    'replays of': replays,
    quotes: latencies.length,
    'median ms': rounded(quantile(latencies, 0.5)),
    'p99 ms': rounded(p99Of(rounds)),
    'longest ms': rounded(Math.max(...latencies)),
    'CPU seconds': rounded(rounds.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0)),
  }
}
