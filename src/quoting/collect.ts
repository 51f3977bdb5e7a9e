import { QuoteRound } from '../solvers/quote-round.js'
import type { SolverHealth } from '../solvers/solver-health.js'
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

/** The one who asks for a quote. */
export interface Caller extends Patience {
  /** IP address. */
  readonly address: string
}

/** Asks solvers. */
export interface Collector {
  /** How long a round for this caller lasts at most, in milliseconds: the quote's time-out, or the caller's own limit. */
  limitMs(patience: Patience): number
  /**
   * Asks all of them at once; resolves with what came of each, in the order in which that was known, when it is known of
   * all: at the latest at the end of the round.
   */
  collect(
    asked: Asked,
    healths: readonly SolverHealth[],
    round: QuoteRound,
    patience: Patience,
  ): Promise<NotedAnswer[]>
  /** Asks a solver for which nobody waits. */
  probe(
    asked: Asked,
    health: SolverHealth,
    clientKey: () => string,
    onOutcome: (outcome: SolverOutcome) => void,
  ): void
}

/** What is kept of a caller's own limit for the answer's way back: this much, at most a fifth of the limit. */
const ANSWER_RESERVE_MS = 100

interface CollectorOptions {
  readonly askSolver: AskSolver
  readonly quoteTimeoutMs: number
  /** The clock of the solvers' health. */
  readonly clock: () => number
}

/** Builds the collector. */
export function createCollector({ askSolver, quoteTimeoutMs, clock }: CollectorOptions): Collector {
  return {
    limitMs: ({ timeoutMs }) => Math.min(quoteTimeoutMs, callersLimit(timeoutMs)),

    collect(asked, healths, round, patience) {
      return new Promise((resolve) => {
        const answers: NotedAnswer[] = []
        round.begin(healths.length)
        // The asking itself is the last to be done.
        let undone = healths.length + 1
        const finishOne = () => {
          if (--undone === 0) end()
        }
        const calls: Call[] = healths.map((health) =>
          askSolver(asked, health, round, (outcome, tookMs) => {
            answers.push({ solver: health.solver.address, outcome, tookMs })
            finishOne()
          }),
        )
        const settleAll = (outcome: SolverOutcome) => {
          for (const call of calls) call.settle(outcome)
        }
        const onGone = () => settleAll({ kind: 'cancelled' })
        const stopListening = patience.onGone(onGone)
        // Only the service's own time-out says that a solver is late (docs/decisions.md, D14).
        const onTime = () => settleAll({ kind: round.limitMs < quoteTimeoutMs ? 'cancelled' : 'late' })
        const timer = setTimeout(onTime, round.limitMs)
        const end = () => {
          clearTimeout(timer)
          stopListening()
          for (const call of calls) call.release()
          round.conclude()
          resolve(answers)
        }
        if (patience.isGone()) onGone()
        finishOne()
      })
    },

    probe(asked, health, clientKey, onOutcome) {
      const { request } = asked
      const round = new QuoteRound({ request, startedAt: clock(), limitMs: quoteTimeoutMs, clientKey })
      const timer = setTimeout(() => call.settle({ kind: 'late' }), quoteTimeoutMs)
      const call: Call = askSolver(asked, health, round, (outcome) => {
        clearTimeout(timer)
        setImmediate(() => {
          call.release()
          round.conclude()
        })
        onOutcome(outcome)
      })
    },
  }
}

function callersLimit(timeoutMs: number | undefined): number {
  if (timeoutMs === undefined) return Number.POSITIVE_INFINITY
  return timeoutMs - Math.min(ANSWER_RESERVE_MS, timeoutMs / 5)
}
