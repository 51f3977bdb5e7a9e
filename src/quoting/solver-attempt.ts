import type { QuoteRequest } from '../domain/quote.js'
import type { QuoteHasher } from '../signing/typed-data.js'
import type { QuoteRound, RequestResult, UnansweredRequest, Verdict } from '../solvers/quote-round.js'
import type { SlotUser } from '../solvers/request-slots.js'
import type { CallListener, SolverClient, SolverReply, SolverRequest } from '../solvers/solver-client.js'
import type { SolverCounters } from '../solvers/solver-counters.js'
import type { OpenRequest, SolverHealth } from '../solvers/solver-health.js'
import { type AttemptResult, isDecline } from './attempt-result.js'
import type { OfferValidator } from './offer-validator.js'

/** One request, prepared once for all solvers. */
export interface PreparedRequest {
  readonly request: QuoteRequest
  readonly hasher: QuoteHasher
  readonly solverRequest: SolverRequest
}

/** One request to one solver. */
export interface Attempt {
  /** Sets the outcome, unless there is one. */
  settle(outcome: AttemptResult): void
  /** Ends what is left of the request, such as the body of a declined one. */
  release(): void
}

/**
 * Called once with the outcome and the milliseconds that the solver had. A failure is an outcome too, so that it does not
 * affect the requests to other solvers.
 */
type OnOutcome = (outcome: AttemptResult, tookMs: number) => void

/** Asks one solver and validates its reply. */
export type RequestQuote = (
  prepared: PreparedRequest,
  health: SolverHealth,
  round: QuoteRound,
  onOutcome: OnOutcome,
) => Attempt

interface RequestQuoteOptions {
  readonly solverClient: Pick<SolverClient, 'requestQuote'>
  readonly validateOffer: OfferValidator
  readonly counters: Pick<SolverCounters, 'count'>
  /** The clock of the solvers' health. */
  readonly clock: () => number
}

/** Builds the function that asks a solver and updates its health. */
export function createRequestQuote(options: RequestQuoteOptions): RequestQuote {
  return (prepared, health, round, onOutcome) => {
    const attempt = new SolverAttempt(options, prepared, health, round, onOutcome)
    attempt.begin()
    return attempt
  }
}

/** One request to one solver, from its connection slot to the verdict of its round. */
class SolverAttempt implements Attempt, OpenRequest, SlotUser, CallListener, UnansweredRequest {
  readonly #options: RequestQuoteOptions
  readonly #prepared: PreparedRequest
  readonly #health: SolverHealth
  readonly #onOutcome: OnOutcome
  readonly round: QuoteRound
  result: RequestResult = 'quoted'
  tookMs = 0
  #isOpen = true
  #requestedAt = 0
  /** When it got its slot. */
  #startedAt: number | undefined
  #sentAt: number | undefined
  #endCall: (() => void) | undefined

  constructor(
    options: RequestQuoteOptions,
    prepared: PreparedRequest,
    health: SolverHealth,
    round: QuoteRound,
    onOutcome: OnOutcome,
  ) {
    this.#options = options
    this.#prepared = prepared
    this.#health = health
    this.round = round
    this.#onOutcome = onOutcome
  }

  begin(): void {
    this.#requestedAt = this.#options.clock()
    this.#health.begin(this, this.#requestedAt)
    this.#health.slots.add(this, this.#requestedAt)
  }

  start(now: number): void {
    this.#startedAt = now
    this.#endCall = this.#options.solverClient.requestQuote(
      this.#health.solver,
      this.#prepared.solverRequest,
      this,
    )
  }

  get waitingSince(): number | undefined {
    return this.#sentAt ?? this.#startedAt
  }

  onSent(): void {
    const now = this.#options.clock()
    this.#sentAt = now
    this.#health.slots.lastSentAt = now
  }

  onReply(reply: SolverReply): void {
    if (reply.kind === 'malformed') this.settle({ kind: 'invalid', reason: 'malformed' })
    else if (reply.kind !== 'replied') this.settle(reply)
    else {
      const onValidated = (outcome: AttemptResult) => this.settle(outcome)
      this.#options.validateOffer({
        ...this.#prepared,
        solver: this.#health.solver.address,
        body: reply.body,
        onValidated,
      })
    }
  }

  onEnd(): void {
    const now = this.#options.clock()
    this.#health.slots.release(this.#startedAt ?? now, now)
  }

  settle(reached: AttemptResult): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    const now = this.#options.clock()
    const outcome = reached.kind === 'late' && this.#isLateByUs() ? CUT_OFF : reached
    this.result = toResult(outcome)
    const isAnswered = this.result !== 'late' && this.result !== 'cancelled'
    this.tookMs = now - (this.waitingSince ?? this.#requestedAt)
    this.#health.end(this, now, isAnswered)
    if (this.result === 'quoted') {
      this.#health.recordQuote(this, this.tookMs, now)
      this.round.recordQuote(this.tookMs, now)
    } else this.round.recordUnanswered(this, now)
    this.#options.counters.count(
      this.#health.solver,
      outcome.kind,
      isAnswered ? this.tookMs / 1000 : undefined,
    )
    this.#onOutcome(outcome, this.tookMs)
  }

  conclude(verdict: Verdict): void {
    this.#health.recordUnanswered(this, verdict, this.tookMs, this.#options.clock())
  }

  release(): void {
    if (this.#endCall === undefined) this.#health.slots.remove(this)
    else this.#endCall()
  }

  /** Whether the request waited for a slot, or for a connection while other requests were sent. Then the solver had less than the whole time. */
  #isLateByUs(): boolean {
    if (this.#startedAt !== this.#requestedAt) return true
    return this.#sentAt === undefined && this.#health.slots.lastSentAt >= this.#startedAt
  }
}

const CUT_OFF: AttemptResult = { kind: 'cancelled', isQueued: true }

function toResult(outcome: AttemptResult): RequestResult {
  switch (outcome.kind) {
    case 'declined':
      return isDecline(outcome.status) ? 'declined' : 'failed'
    case 'invalid':
      return 'failed'
    default:
      return outcome.kind
  }
}
