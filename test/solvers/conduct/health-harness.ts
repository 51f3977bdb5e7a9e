import { Writable } from 'node:stream'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import type { Solver } from '../../../packages/protocol/src/solvers/solver.js'
import type { SolverHealth } from '../../../src/solvers/conduct/solver-health.js'
import {
  createSolverHealthRegistry,
  type SolverHealthRegistry,
} from '../../../src/solvers/conduct/solver-health-registry.js'
import { collectHealthMetrics } from '../../../src/solvers/statistics/solver-counters.js'
import {
  type CircuitBreakerStore,
  createCircuitBreakerStore,
} from '../../../src/store/solvers/circuit-breaker-store.js'
import { openSqlite } from '../../../src/store/sqlite/sqlite.js'
import { createMetrics } from '../../../src/telemetry/metrics.js'
import { answering, playRound, QUOTE_TIMEOUT_MS } from './rounds.js'

let clients = 0

/** Makes a solver lose time until its breaker opens at this time. */
export function open(health: SolverHealth | undefined, now: number): void {
  for (let loss = 0; loss < 3; loss++) lose(health, now)
}

/** Makes a solver lose the time of a new client, in a request that ends now. */
export function lose(health: SolverHealth | undefined, now: number): void {
  if (health === undefined) return
  playRound(now - QUOTE_TIMEOUT_MS, [{ health, result: 'late' }, answering()], { client: `${++clients}` })
}

/** Makes a solver send a valid offer. */
export function answer(health: SolverHealth | undefined, now: number, tookMs = 0): void {
  if (health !== undefined) playRound(now - tookMs, [{ health, result: 'quoted', tookMs }])
}

/** A store of open periods in memory. */
export async function openStore() {
  const database = await openSqlite(':memory:')
  let isOpen = true
  const close = async () => {
    if (isOpen) await database.destroy()
    isOpen = false
  }
  onTestFinished(close)
  return { store: createCircuitBreakerStore(database), close }
}

/** A line of the log. */
interface Line {
  readonly level: number
  readonly msg: string
}

/** A registry whose clocks a test sets. */
export async function openRegistry({
  store,
  clock,
  now,
}: {
  store: CircuitBreakerStore
  clock: number | (() => number)
  now: number
}) {
  const lines: Line[] = []
  const stream = new Writable({
    write(line, _encoding, done) {
      lines.push(JSON.parse(line))
      done()
    },
  })
  const metrics = createMetrics()
  const registry: SolverHealthRegistry = await createSolverHealthRegistry({
    store,
    quoteTimeoutMs: QUOTE_TIMEOUT_MS,
    quoteSoftTimeoutMs: 0,
    maxConnectionsPerSolver: 8,
    clock: typeof clock === 'number' ? () => clock : clock,
    now: () => now,
    log: pino({}, stream),
  })

  const active = new Map<number, readonly Solver[]>()
  function of(chainId: number, solvers: readonly Solver[]): readonly SolverHealth[] {
    active.set(chainId, solvers)
    return registry.of(chainId, solvers)
  }

  function collectMetrics(solvers: ReadonlyMap<number, readonly Solver[]>): void {
    const healths = [...solvers].flatMap(([chainId, own]) => registry.of(chainId, own))
    collectHealthMetrics(healths, () => 7, metrics)
  }

  /** The samples of one metric, as `chain_id solver value`, the solver by its number. */
  async function series(name: string): Promise<string[]> {
    collectMetrics(active)
    const text = await metrics.registry.getSingleMetricAsString(name)
    return text
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`))
      .map((line) => line.replace(/^.*chain_id="(\d+)",solver="0x0*([0-9a-f]+)"\}/, '$1 $2'))
  }

  return { of, collectMetrics, series, lines }
}
