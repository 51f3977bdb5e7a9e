import { Peers } from '../solvers/peers.js'
import type { SolverRecord } from '../solvers/solver-record.js'
import type { Asked, AskSolver, Call } from './call.js'
import type { NotedAnswer } from './minutes.js'
import type { SolverOutcome } from './outcome.js'

/** How long a caller waits, and whether it still does. */
export interface Patience {
  /** Whether the caller has gone away. */
  isGone(): boolean
  /**
   * Takes the one who wants to be told when the caller goes away.
   * @returns ends that
   */
  onGone(listener: () => void): () => void
  /** The caller's own limit in milliseconds from now; undefined leaves the instance's. */
  readonly timeoutMs: number | undefined
}

/** Asks solvers. */
export interface Collector {
  /**
   * Asks all of them at once; resolves with what came of each, in the order in which that was known, when it is known of
   * all: at the latest after the quote's time-out, or shortly before the caller's own limit.
   */
  collect(asked: Asked, records: readonly SolverRecord[], patience: Patience): Promise<NotedAnswer[]>
  /** Asks a solver for which nobody waits. */
  probe(asked: Asked, record: SolverRecord, onOutcome: (outcome: SolverOutcome) => void): void
}

/** What is kept of a caller's own limit for the answer's way back: this much, at most a fifth of the limit. */
const ANSWER_RESERVE_MS = 100

/** Builds the collector. */
export function createCollector(askSolver: AskSolver, quoteTimeoutMs: number): Collector {
  return {
    collect(asked, records, patience) {
      return new Promise((resolve) => {
        const answers: NotedAnswer[] = []
        const peers = new Peers(records.length)
        // The asking itself is the last to be done.
        let undone = records.length + 1
        const finishOne = () => {
          if (--undone === 0) end()
        }
        const calls: Call[] = records.map((record) =>
          askSolver(asked, record, peers, (outcome, tookMs) => {
            answers.push({ solver: record.solver.address, outcome, tookMs })
            finishOne()
          }),
        )
        const settleAll = (outcome: SolverOutcome) => {
          for (const call of calls) call.settle(outcome)
        }
        const onGone = () => settleAll({ kind: 'cancelled' })
        const stopListening = patience.onGone(onGone)
        const limitMs = Math.min(quoteTimeoutMs, callersLimit(patience.timeoutMs))
        const timer = setTimeout(() => settleAll({ kind: 'late' }), limitMs)
        const end = () => {
          clearTimeout(timer)
          stopListening()
          for (const call of calls) call.release()
          resolve(answers)
        }
        if (patience.isGone()) onGone()
        finishOne()
      })
    },

    probe(asked, record, onOutcome) {
      const timer = setTimeout(() => call.settle({ kind: 'late' }), quoteTimeoutMs)
      const call: Call = askSolver(asked, record, new Peers(1), (outcome) => {
        clearTimeout(timer)
        setImmediate(() => call.release())
        onOutcome(outcome)
      })
    },
  }
}

function callersLimit(timeoutMs: number | undefined): number {
  if (timeoutMs === undefined) return Number.POSITIVE_INFINITY
  return timeoutMs - Math.min(ANSWER_RESERVE_MS, timeoutMs / 5)
}
