import type { QuoteRequest } from '../../../packages/protocol/src/quotes/quote.js'
import type { OfferValidator } from '../../../packages/protocol/src/signing/offer-validator.js'
import type { QuoteHasher } from '../../../packages/protocol/src/signing/typed-data.js'
import { askedSession, type Solver } from '../../../packages/protocol/src/solvers/solver.js'
import {
  isOverdue,
  responseOf,
  type SolverResult,
} from '../../../packages/protocol/src/solvers/solver-result.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import type { RequestSlots } from '../../solvers/conduct/request-slots.js'
import type { QuoteRound, UnansweredRequest, Verdict } from '../../solvers/conduct/round-verdicts.js'
import type { OpenRequest, SolverHealth } from '../../solvers/conduct/solver-health.js'
import type {
  CallListener,
  SolverRequest,
  SolverTransport,
} from '../../solvers/transport/solver-transports.js'

/** The request of one round, as all solvers get it. */
export interface AttemptRequest {
  readonly request: QuoteRequest
  readonly hasher: QuoteHasher
  readonly solverRequest: SolverRequest
}

/** The request to one solver, with its result. */
export interface SolverAttempt {
  readonly solver: Address
  readonly result: SolverResult
  /** Milliseconds that the solver had, without pauses of this process. */
  readonly tookMs: number
  /** The solver with the session on which it got the request; undefined when it was sent over HTTP, or not at all. */
  readonly onSession?: Solver | undefined
}

/**
 * Asks one solver, validates its reply and updates its health. The promise is not rejected.
 * @param signal ends the attempt; its reason is the result: `late`, `soft_deadline` or `cancelled`
 */
export type AttemptQuote = (
  request: AttemptRequest,
  health: SolverHealth,
  round: QuoteRound,
  signal: AbortSignal,
) => Promise<SolverAttempt>

interface AttemptQuoteOptions {
  readonly transport: SolverTransport
  readonly validateOffer: OfferValidator
  /** Called with the result of each request. */
  readonly onAttempt: (request: QuoteRequest, solver: Solver, attempt: SolverAttempt) => void
  /** The clock of the solvers' health. */
  readonly clock: () => number
}

/** Builds the function that asks a solver. */
export function createAttemptQuote(options: AttemptQuoteOptions): AttemptQuote {
  const { transport, validateOffer, onAttempt, clock } = options
  return async (request, health, round, signal) => {
    const attempt = new OpenAttempt(clock, health, round)
    let result: SolverResult = CUT_OFF
    if (attempt.takeSlot() || (await attempt.waitForSlot(signal))) {
      const reply = await transport.requestQuote(attempt.solver, request.solverRequest, signal, attempt)
      if (reply.kind !== 'replied') result = reply
      else result = await validateOffer({ ...request, solver: attempt.solver.address, body: reply.body })
    }
    const settled = attempt.settle(signal.aborted ? atEndOf(signal, result) : result)
    onAttempt(request.request, attempt.solver, settled)
    return settled
  }
}

/** The result of a request that its round has ended. A solver that was not reached is not late. */
function atEndOf({ reason }: AbortSignal, result: SolverResult): SolverResult {
  const wasUnreachable = result.kind === 'cancelled' && result.reason !== undefined
  return wasUnreachable && isOverdue(reason) ? result : reason
}

const CUT_OFF: SolverResult = { kind: 'cancelled', isQueued: true }

/** One request to one solver, from its slot to the verdict of its round. */
class OpenAttempt implements OpenRequest, CallListener, UnansweredRequest {
  readonly #clock: () => number
  readonly health: SolverHealth
  readonly round: QuoteRound
  result: SolverResult = { kind: 'late' }
  tookMs = 0
  /** The solver as it is asked: its registration and its session may change meanwhile. */
  solver: Solver
  /** Those that it takes its slot from: the solver may get others meanwhile. */
  readonly #slots: RequestSlots
  readonly #requestedAt: number
  /** When it got its slot. */
  #startedAt: number | undefined
  #sentAt: number | undefined
  /** For how long the process was paused in the round before the request was sent. */
  #pausedMs = 0

  constructor(clock: () => number, health: SolverHealth, round: QuoteRound) {
    this.#clock = clock
    this.health = health
    this.round = round
    this.solver = health.solver
    this.#slots = health.slots
    this.#requestedAt = clock()
    health.begin(this, this.#requestedAt)
  }

  get waitingSince(): number | undefined {
    return this.#sentAt ?? this.#startedAt
  }

  takeSlot(): boolean {
    if (!this.#slots.tryTake(this.#requestedAt)) return false
    this.#startedAt = this.#requestedAt
    return true
  }

  /** @returns whether it has its slot */
  async waitForSlot(signal: AbortSignal): Promise<boolean> {
    this.#startedAt = await this.#slots.wait(signal)
    this.solver = this.health.solver
    return this.#startedAt !== undefined
  }

  onSent(): void {
    const now = this.#clock()
    this.#sentAt = now
    this.#pausedMs = this.round.pausedMs
    this.#slots.lastSentAt = now
  }

  onEnd(): void {
    const now = this.#clock()
    this.#slots.release(this.#startedAt ?? now, now)
  }

  /** Records the result in the health of the solver, and in the round. */
  settle(reached: SolverResult): SolverAttempt {
    const now = this.#clock()
    this.result = isOverdue(reached) && this.#isLateByUs() ? CUT_OFF : reached
    const pausedMs = this.round.pausedMs - this.#pausedMs
    this.tookMs = Math.max(0, now - (this.waitingSince ?? this.#requestedAt) - pausedMs)
    this.health.end(this, now, responseOf(this.result) !== undefined)
    if (this.result.kind === 'quoted') {
      this.health.recordQuote(this, this.tookMs, now)
      this.round.recordQuote(this.tookMs, now)
    } else this.round.recordUnanswered(this, now)
    const isOnSession = askedSession(this.solver) !== undefined && this.#sentAt !== undefined
    const onSession = isOnSession ? this.solver : undefined
    return { solver: this.solver.address, result: this.result, tookMs: this.tookMs, onSession }
  }

  conclude(verdict: Verdict): void {
    this.health.recordUnanswered(this, verdict, this.tookMs, this.#clock())
  }

  /** Whether the request waited for a slot, or for a connection while other requests were sent. Then the solver had less than the whole time. */
  #isLateByUs(): boolean {
    if (this.#startedAt !== this.#requestedAt) return true
    return this.#sentAt === undefined && this.#slots.lastSentAt >= this.#startedAt
  }
}
