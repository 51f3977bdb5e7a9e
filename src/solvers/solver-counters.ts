import { keyOf, type Solver, type SolverKey } from '../domain/solver.js'
import type { Metrics } from '../telemetry/metrics.js'

/** Counts the results of requests to each solver, and adds them to the metrics when these are collected. */
export interface SolverCounters {
  /**
   * Counts a result.
   * @param outcome of a closed list, as it is a label
   * @param seconds the time of a response; undefined without a response
   */
  count(solver: Solver, outcome: string, seconds: number | undefined): void
  /** Counts a round that waited for this solver last. */
  countLast(solver: SolverKey): void
  /** Counts a quote whose best offer was the solver's. */
  countWin(solver: SolverKey): void
  /**
   * Updates the metrics.
   * @param reachable the reachable solvers of each chain; the series of all others are removed
   */
  flush(reachable: ReadonlyMap<number, readonly Solver[]>): void
}

type SolverMetrics = Pick<Metrics, 'solverOutcomes' | 'solverResponseSeconds' | 'solverLast' | 'solverWins'>

/** The most response times of a solver that are kept. To record them takes a few milliseconds. */
const MAX_KEPT = 10_000

/** Builds the counters. They keep counts because to find a series by its labels takes longer than to add to a number. */
export function createSolverCounters(metrics: SolverMetrics): SolverCounters {
  const counters = new Map<string, SolverCounter>()
  const known = new WeakMap<Solver, SolverCounter>()

  function counterOf(solver: Solver): SolverCounter {
    let counter = known.get(solver) ?? counters.get(keyOf(solver))
    if (counter === undefined) {
      counter = new SolverCounter(metrics, solver)
      counters.set(keyOf(solver), counter)
    }
    known.set(solver, counter)
    return counter
  }

  return {
    count: (solver, outcome, seconds) => counterOf(solver).count(outcome, seconds),
    countLast: (solver) => counters.get(keyOf(solver))?.countLast(),
    countWin: (solver) => counters.get(keyOf(solver))?.countWin(),
    flush(reachable) {
      const isReachable = new Set([...reachable.values()].flat().map(keyOf))
      for (const [key, counter] of counters) {
        if (isReachable.has(key)) counter.flush()
        else counter.remove()
      }
    },
  }
}

class SolverCounter {
  readonly #metrics: SolverMetrics
  readonly #labels: { readonly chain_id: number; readonly solver: string }
  /** All outcomes so far, also those that are already in the metrics. */
  readonly #counts = new Map<string, number>()
  readonly #seconds: number[] = []
  /** Rounds that waited for the solver last, and are not in the metrics yet. */
  #lasts = 0
  /** Quotes with its offer as the best one that are not in the metrics yet. */
  #wins = 0

  constructor(metrics: SolverMetrics, { chainId, address }: SolverKey) {
    this.#metrics = metrics
    this.#labels = { chain_id: chainId, solver: address }
  }

  count(outcome: string, seconds: number | undefined): void {
    this.#counts.set(outcome, (this.#counts.get(outcome) ?? 0) + 1)
    if (seconds !== undefined && this.#seconds.push(seconds) >= MAX_KEPT) this.#flushSeconds()
  }

  countLast(): void {
    this.#lasts++
  }

  countWin(): void {
    this.#wins++
  }

  flush(): void {
    if (this.#lasts > 0) this.#metrics.solverLast.inc(this.#labels, this.#lasts)
    this.#lasts = 0
    if (this.#wins > 0) this.#metrics.solverWins.inc(this.#labels, this.#wins)
    this.#wins = 0
    for (const [outcome, count] of this.#counts) {
      if (count > 0) this.#metrics.solverOutcomes.inc({ ...this.#labels, outcome }, count)
      this.#counts.set(outcome, 0)
    }
    this.#flushSeconds()
  }

  remove(): void {
    for (const outcome of this.#counts.keys())
      this.#metrics.solverOutcomes.remove({ ...this.#labels, outcome })
    this.#metrics.solverResponseSeconds.remove(this.#labels)
    this.#metrics.solverLast.remove(this.#labels)
    this.#metrics.solverWins.remove(this.#labels)
    this.#lasts = 0
    this.#wins = 0
    this.#counts.clear()
    this.#seconds.length = 0
  }

  #flushSeconds(): void {
    for (const seconds of this.#seconds) this.#metrics.solverResponseSeconds.observe(this.#labels, seconds)
    this.#seconds.length = 0
  }
}
