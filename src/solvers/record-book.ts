import type { Solver, SolverKey } from '../domain/solver.js'
import type { BenchStore, StoredTerm } from '../store/bench-store.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import { type BenchTerm, LONGEST_TERM_MS, SolverRecord } from './solver-record.js'

/** The records of all active solvers. */
export interface RecordBook {
  /**
   * @param solvers the active solvers of a chain, as the registry gives them
   * @returns their records, in the same order; a solver at a new endpoint begins a new one
   */
  of(chainId: number, solvers: readonly Solver[]): readonly SolverRecord[]
  /**
   * Puts what the records say into the metrics.
   * @param active the active solvers of each chain
   */
  measure(active: ReadonlyMap<number, readonly Solver[]>): void
}

interface RecordBookOptions {
  readonly store: BenchStore
  readonly quoteTimeoutMs: number
  /** The records' clock, in milliseconds; it never goes back. */
  readonly clock: () => number
  /** Unix time in milliseconds. */
  readonly now: () => number
  readonly metrics: Metrics
  readonly log: Logger
}

/** One chain's records, and the list that they were made for. */
interface Page {
  readonly solvers: readonly Solver[]
  readonly records: readonly SolverRecord[]
}

/**
 * Builds the book. Of a restart only the terms on the bench survive: they keep quotes from waiting for solvers that are
 * known to be gone. Shares and latencies are learned again within a few quotes.
 */
export async function createRecordBook(options: RecordBookOptions): Promise<RecordBook> {
  const { store, quoteTimeoutMs, clock, now, metrics, log } = options
  const pages = new Map<number, Page>()
  const storedTerms = new Map((await store.readAll()).map((term) => [keyOf(term), term]))

  function keep(writing: Promise<void>): void {
    writing.catch((error) => log.error({ err: error }, 'a term on the bench could not be kept'))
  }

  /** What comes of a record that has been replaced says nothing of the solver as it is registered now. */
  function noteTerm(record: SolverRecord, term: BenchTerm | undefined): void {
    const { chainId, address, endpointUrl } = record.solver
    if (!pages.get(chainId)?.records.includes(record)) return
    if (term === undefined) {
      log.info({ chainId, solver: address }, 'a solver answers again: it is off the bench')
      keep(store.remove({ chainId, address }))
      return
    }
    const termMs = term.until - clock()
    log.warn({ chainId, solver: address, termMs }, 'a solver is on the bench: no quote waits for it')
    keep(store.save({ chainId, address, endpointUrl, level: term.level, until: now() + termMs }))
  }

  /** A term from before the restart, on the records' clock; the solver is asked at its endpoint of then only. */
  function takeStoredTerm(solver: Solver): BenchTerm | undefined {
    const stored = storedTerms.get(keyOf(solver))
    if (stored === undefined) return undefined
    storedTerms.delete(keyOf(solver))
    if (stored.endpointUrl === solver.endpointUrl) return toTerm(stored)
    keep(store.remove(solver))
    return undefined
  }

  /** The wall clock may have been put back meanwhile. */
  function toTerm({ level, until }: StoredTerm): BenchTerm {
    return { level, until: clock() + Math.min(until - now(), LONGEST_TERM_MS) }
  }

  function createRecord(solver: Solver): SolverRecord {
    const record: SolverRecord = new SolverRecord(solver, {
      quoteTimeoutMs,
      term: takeStoredTerm(solver),
      onBench: (term) => noteTerm(record, term),
    })
    return record
  }

  function turnPage(chainId: number, solvers: readonly Solver[]): readonly SolverRecord[] {
    const before = new Map(pages.get(chainId)?.records.map((record) => [record.solver.address, record]))
    const records = solvers.map((solver) => {
      const record = before.get(solver.address)
      if (record === undefined || record.solver.endpointUrl !== solver.endpointUrl)
        return createRecord(solver)
      before.delete(solver.address)
      record.solver = solver
      return record
    })
    for (const { solver, isBenched } of before.values()) if (isBenched) keep(store.remove(solver))
    pages.set(chainId, { solvers, records })
    return records
  }

  function of(chainId: number, solvers: readonly Solver[]): readonly SolverRecord[] {
    const page = pages.get(chainId)
    return page?.solvers === solvers ? page.records : turnPage(chainId, solvers)
  }

  return {
    of,
    measure(active) {
      const { solverBenched, solverValidShare, solverUsualSeconds } = metrics
      for (const gauge of [solverBenched, solverValidShare, solverUsualSeconds]) gauge.reset()
      for (const [chainId, solvers] of active) {
        for (const record of of(chainId, solvers)) {
          const labels = { chain_id: chainId, solver: record.solver.address }
          solverBenched.set(labels, Number(record.isBenched))
          solverValidShare.set(labels, record.validShare)
          if (record.usualMs !== undefined) solverUsualSeconds.set(labels, record.usualMs / 1000)
        }
      }
    },
  }
}

function keyOf({ chainId, address }: SolverKey): string {
  return `${chainId} ${address}`
}
