import { QuoteRound } from '../solvers/quote-round.js'
import type { SolverHealth } from '../solvers/solver-health.js'
import type { AttemptResult } from './attempt-result.js'
import type { AttemptTrace } from './quote-trace.js'
import type { Attempt, PreparedRequest, RequestQuote } from './solver-attempt.js'

/** How long a caller waits, and whether it still does. */
export interface Cancellation {
  /** Whether the caller has gone away. */
  isCancelled(): boolean
  /**
   * Takes the one who wants to be told when the caller goes away.
   * @returns ends that
   */
  onCancelled(listener: () => void): () => void
  /** The caller's own limit in milliseconds from now; undefined leaves the instance's. */
  readonly timeoutMs: number | undefined
}

/** The one who asks for a quote. */
export interface Caller extends Cancellation {
  /** IP address. */
  readonly address: string
}

/** Asks solvers. */
export interface FanOut {
  /** How long a round for this caller lasts at most, in milliseconds: the quote's time-out, or the caller's own limit. */
  limitMs(cancellation: Cancellation): number
  /**
   * Asks all of them at once; resolves with what came of each, in the order in which that was known, when it is known of
   * all: at the latest at the end of the round.
   */
  collect(
    prepared: PreparedRequest,
    healths: readonly SolverHealth[],
    round: QuoteRound,
    cancellation: Cancellation,
  ): Promise<AttemptTrace[]>
  /** Asks a solver for which nobody waits. */
  probe(
    prepared: PreparedRequest,
    health: SolverHealth,
    clientKey: () => string,
    onOutcome: (outcome: AttemptResult) => void,
  ): void
}

/** What is kept of a caller's own limit for the answer's way back: this much, at most a fifth of the limit. */
const ANSWER_RESERVE_MS = 100

interface FanOutOptions {
  readonly requestQuote: RequestQuote
  readonly quoteTimeoutMs: number
  /** The clock of the solvers' health. */
  readonly clock: () => number
}

/** Builds the collector. */
export function createFanOut({ requestQuote, quoteTimeoutMs, clock }: FanOutOptions): FanOut {
  return {
    limitMs: ({ timeoutMs }) => Math.min(quoteTimeoutMs, callersLimit(timeoutMs)),

    collect(prepared, healths, round, cancellation) {
      return new Promise((resolve) => {
        const answers: AttemptTrace[] = []
        round.begin(healths.length)
        // The asking itself is the last to be done.
        let undone = healths.length + 1
        const finishOne = () => {
          if (--undone === 0) end()
        }
        const attempts: Attempt[] = healths.map((health) =>
          requestQuote(prepared, health, round, (outcome, tookMs) => {
            answers.push({ solver: health.solver.address, outcome, tookMs })
            finishOne()
          }),
        )
        const settleAll = (outcome: AttemptResult) => {
          for (const attempt of attempts) attempt.settle(outcome)
        }
        const onCancelled = () => settleAll({ kind: 'cancelled' })
        const stopListening = cancellation.onCancelled(onCancelled)
        // Only the service's own time-out says that a solver is late (docs/decisions.md, D14).
        const onTime = () => settleAll({ kind: round.limitMs < quoteTimeoutMs ? 'cancelled' : 'late' })
        const timer = setTimeout(onTime, round.limitMs)
        const end = () => {
          clearTimeout(timer)
          stopListening()
          for (const attempt of attempts) attempt.release()
          round.conclude()
          resolve(answers)
        }
        if (cancellation.isCancelled()) onCancelled()
        finishOne()
      })
    },

    probe(prepared, health, clientKey, onOutcome) {
      const { request } = prepared
      const round = new QuoteRound({ request, startedAt: clock(), limitMs: quoteTimeoutMs, clientKey })
      const timer = setTimeout(() => attempt.settle({ kind: 'late' }), quoteTimeoutMs)
      const attempt: Attempt = requestQuote(prepared, health, round, (outcome) => {
        clearTimeout(timer)
        setImmediate(() => {
          attempt.release()
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
