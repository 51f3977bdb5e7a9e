import { QuoteRound } from '../solvers/quote-round.js'
import type { SolverHealth } from '../solvers/solver-health.js'
import type { AttemptResult } from './attempt-result.js'
import type { AttemptTrace } from './quote-trace.js'
import type { Attempt, PreparedRequest, RequestQuote } from './solver-attempt.js'

/** The deadline of a caller, and whether it has cancelled its request. */
export interface Cancellation {
  /** Whether the caller has cancelled its request or lost its connection. */
  isCancelled(): boolean
  /**
   * Calls `listener` when the caller cancels its request or loses its connection.
   * @returns a function that removes the listener
   */
  onCancelled(listener: () => void): () => void
  /** The caller's own deadline in milliseconds from now; undefined without one. */
  readonly timeoutMs: number | undefined
}

/** The caller of a quote. */
export interface Caller extends Cancellation {
  /** IP address. */
  readonly address: string
}

/** Sends a request to many solvers. */
export interface FanOut {
  /** The longest time of a round for this caller in milliseconds: the quote timeout, or the caller's shorter deadline. */
  limitMs(cancellation: Cancellation): number
  /**
   * Asks all solvers at the same time.
   * @returns the results in the order of their arrival, as soon as all are there, at the latest at the end of the round
   */
  collect(
    prepared: PreparedRequest,
    healths: readonly SolverHealth[],
    round: QuoteRound,
    cancellation: Cancellation,
  ): Promise<AttemptTrace[]>
  /** Asks a solver without a caller that waits for it. */
  probe(
    prepared: PreparedRequest,
    health: SolverHealth,
    clientKey: () => string,
    onOutcome: (outcome: AttemptResult) => void,
  ): void
}

/** The part of a caller's deadline that is reserved for the transport of the response; at most a fifth of the deadline. */
const RESPONSE_RESERVE_MS = 100

interface FanOutOptions {
  readonly requestQuote: RequestQuote
  readonly quoteTimeoutMs: number
  /** The clock of the solvers' health. */
  readonly clock: () => number
}

/** Builds the fan-out. */
export function createFanOut({ requestQuote, quoteTimeoutMs, clock }: FanOutOptions): FanOut {
  return {
    limitMs: ({ timeoutMs }) => Math.min(quoteTimeoutMs, callersLimit(timeoutMs)),

    collect(prepared, healths, round, cancellation) {
      return new Promise((resolve) => {
        const results: AttemptTrace[] = []
        round.begin(healths.length)
        // The last step is the loop below itself, so that it completes before the round ends.
        let pending = healths.length + 1
        const finishOne = () => {
          if (--pending === 0) end()
        }
        const attempts: Attempt[] = healths.map((health) =>
          requestQuote(prepared, health, round, (outcome, tookMs) => {
            results.push({ solver: health.solver.address, outcome, tookMs })
            finishOne()
          }),
        )
        const settleAll = (outcome: AttemptResult) => {
          for (const attempt of attempts) attempt.settle(outcome)
        }
        const onCancelled = () => settleAll({ kind: 'cancelled' })
        const stopListening = cancellation.onCancelled(onCancelled)
        // A solver is late only at the service's own timeout (docs/decisions.md, D14).
        const onTime = () => settleAll({ kind: round.limitMs < quoteTimeoutMs ? 'cancelled' : 'late' })
        const timer = setTimeout(onTime, round.limitMs)
        const end = () => {
          clearTimeout(timer)
          stopListening()
          for (const attempt of attempts) attempt.release()
          round.conclude()
          resolve(results)
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
  return timeoutMs - Math.min(RESPONSE_RESERVE_MS, timeoutMs / 5)
}
