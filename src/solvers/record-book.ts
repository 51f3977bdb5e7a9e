import type { Solver, SolverKey } from '../domain/solver.js'
import type { BenchStore, StoredTerm } from '../store/bench-store.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import { type BenchTerm, SolverRecord } from './solver-record.js'

/** The records of all active solvers. */
export interface RecordBook {
  /**
   * @param solvers the active solvers of a chain, as the registry gives them
   * @returns their records, in the same order; a solver at a new endpoint begins a new one
   */
  of(chainId: number, solvers: readonly Solver[]): readonly SolverRecord[]
  /** Puts what the records say into the metrics. */
  measure(): void
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

  function noteTerm({ chainId, address, endpointUrl }: Solver, term: BenchTerm | undefined): void {
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
    storedTerms.delete(keyOf(solver))
    return stored?.endpointUrl === solver.endpointUrl ? toTerm(stored) : undefined
  }

  function toTerm({ level, until }: StoredTerm): BenchTerm {
    return { level, until: clock() + until - now() }
  }

  function createRecord(solver: Solver): SolverRecord {
    const record: SolverRecord = new SolverRecord(solver, {
      quoteTimeoutMs,
      term: takeStoredTerm(solver),
      onBench: (term) => noteTerm(record.solver, term),
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

  return {
    of(chainId, solvers) {
      const page = pages.get(chainId)
      return page?.solvers === solvers ? page.records : turnPage(chainId, solvers)
    },
    measure() {
      const { solverBenched, solverValidShare, solverUsualSeconds } = metrics
      for (const gauge of [solverBenched, solverValidShare, solverUsualSeconds]) gauge.reset()
      for (const [chainId, { records }] of pages) {
        for (const record of records) {
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
