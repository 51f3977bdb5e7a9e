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

/** One solver being asked. */
export interface Attempt {
  /** Gives it an outcome, unless it has one. */
  settle(outcome: AttemptResult): void
  /** Ends what is still under way of it, such as the body of a refusal. */
  release(): void
}

/**
 * Called once. A failure is an outcome too, so that it does not reach other solvers' calls. Takes the milliseconds that
 * the solver had as well.
 */
type OnOutcome = (outcome: AttemptResult, tookMs: number) => void

/** Asks one solver and judges what it answers. */
export type RequestQuote = (
  asked: PreparedRequest,
  health: SolverHealth,
  round: QuoteRound,
  onOutcome: OnOutcome,
) => Attempt

interface RequestQuoteOptions {
  readonly solverClient: Pick<SolverClient, 'requestQuote'>
  readonly validateOffer: OfferValidator
  readonly counters: Pick<SolverCounters, 'note'>
  /** The clock of the solvers' health. */
  readonly clock: () => number
}

/** Builds the way to ask a solver, which keeps its health. */
export function createRequestQuote(options: RequestQuoteOptions): RequestQuote {
  return (asked, health, round, onOutcome) => {
    const attempt = new SolverAttempt(options, asked, health, round, onOutcome)
    attempt.begin()
    return attempt
  }
}

/** One request to one solver, from its place among the solver's connections to the verdict of its round. */
class SolverAttempt implements Attempt, OpenRequest, SlotUser, CallListener, UnansweredRequest {
  readonly #options: RequestQuoteOptions
  readonly #asked: PreparedRequest
  readonly #health: SolverHealth
  readonly #onOutcome: OnOutcome
  readonly round: QuoteRound
  result: RequestResult = 'quoted'
  tookMs = 0
  #isOpen = true
  #askedAt = 0
  /** When it got its place. */
  #startedAt: number | undefined
  #sentAt: number | undefined
  #endCall: (() => void) | undefined

  constructor(
    options: RequestQuoteOptions,
    asked: PreparedRequest,
    health: SolverHealth,
    round: QuoteRound,
    onOutcome: OnOutcome,
  ) {
    this.#options = options
    this.#asked = asked
    this.#health = health
    this.round = round
    this.#onOutcome = onOutcome
  }

  begin(): void {
    this.#askedAt = this.#options.clock()
    this.#health.begin(this, this.#askedAt)
    this.#health.slots.add(this, this.#askedAt)
  }

  start(now: number): void {
    this.#startedAt = now
    this.#endCall = this.#options.solverClient.requestQuote(
      this.#health.solver,
      this.#asked.solverRequest,
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
        ...this.#asked,
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
    this.tookMs = now - (this.waitingSince ?? this.#askedAt)
    this.#health.end(this, now, isAnswered)
    if (this.result === 'quoted') {
      this.#health.noteQuote(this, this.tookMs, now)
      this.round.noteQuote(this.tookMs, now)
    } else this.round.noteUnanswered(this, now)
    this.#options.counters.note(
      this.#health.solver,
      outcome.kind,
      isAnswered ? this.tookMs / 1000 : undefined,
    )
    this.#onOutcome(outcome, this.tookMs)
  }

  conclude(verdict: Verdict): void {
    this.#health.noteUnanswered(this, verdict, this.tookMs, this.#options.clock())
  }

  release(): void {
    if (this.#endCall === undefined) this.#health.slots.remove(this)
    else this.#endCall()
  }

  /** It waited for its turn, or for a connection while others were made: the solver had less than the whole time. */
  #isLateByUs(): boolean {
    if (this.#startedAt !== this.#askedAt) return true
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
