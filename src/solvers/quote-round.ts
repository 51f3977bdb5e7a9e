import type { QuoteRequest } from '../domain/quote.js'

/** How one request to a solver ended. */
export type RequestResult =
  /** A valid offer. */
  | 'quoted'
  /** The solver declined. */
  | 'declined'
  /** An error, or a reply that is not valid. */
  | 'failed'
  /** Nothing came within the service's own time-out. */
  | 'late'
  /** The caller's deadline or departure cut it off, or it waited for a connection here. */
  | 'cancelled'

/** What a request without an offer says of its solver (docs/decisions.md, D14). */
export type Verdict =
  /** The caller waited for nothing, until the service's own time-out. */
  | 'time_lost'
  /** The caller waited longer for this solver than for all others, for no offer. */
  | 'slow'
  /** The solver declined in time a request that another solver answered. */
  | 'declined'
  /** Nothing. */
  | 'none'

/** A request of a round that ended without an offer. */
export interface UnansweredRequest {
  readonly result: RequestResult
  /** Time that the solver had, in milliseconds: time in a queue of this service is not part of it. */
  readonly tookMs: number
  /** Called once, at the end of the round. */
  conclude(verdict: Verdict): void
}

/** A result without an offer loses time when it comes so much later than the last other result. */
const LOST_MS = 100

interface QuoteRoundOptions {
  readonly request: Pick<QuoteRequest, 'inputToken' | 'outputToken'>
  /** On the clock of the solvers' health. */
  readonly startedAt: number
  /** How long the round lasts at most. */
  readonly limitMs: number
  /** Names the client that waits for the round, as circuit breakers count clients; called only when a solver fails, or has failed of late. */
  readonly clientKey: () => string
}

/** The requests to solvers that are made for one quote. Each is judged beside the others, at the end. */
export class QuoteRound {
  /** The token pair, as a key. */
  readonly pair: string
  readonly startedAt: number
  readonly limitMs: number
  readonly #clientKey: () => string
  #client: string | undefined
  readonly #unanswered: UnansweredRequest[] = []
  #enough = 1
  #answers = 0
  #answeredAt: number | undefined
  #hasQuote = false
  #slowestMs = 0
  #secondSlowestMs = 0

  constructor({ request, startedAt, limitMs, clientKey }: QuoteRoundOptions) {
    this.pair = `${request.inputToken}${request.outputToken}`
    this.startedAt = startedAt
    this.limitMs = limitMs
    this.#clientKey = clientKey
  }

  /** The client that waits for the round. */
  get client(): string {
    this.#client ??= this.#clientKey()
    return this.#client
  }

  /** When half of any solver's peers had answered; undefined until then. */
  get answeredAt(): number | undefined {
    return this.#answeredAt
  }

  /** @param size how many solvers are waited for */
  begin(size: number): void {
    this.#enough = Math.max(1, Math.ceil((size - 1) / 2))
  }

  /** Notes a valid offer. */
  noteQuote(tookMs: number, now: number): void {
    this.#hasQuote = true
    this.#noteAnswer(now)
    this.#noteTime(tookMs)
  }

  /** Notes a request that ended without one. */
  noteUnanswered(request: UnansweredRequest, now: number): void {
    const { result, tookMs } = request
    this.#unanswered.push(request)
    if (result !== 'late' && result !== 'cancelled') this.#noteAnswer(now)
    // It is not known how much longer the solver would have taken: no other result was the last.
    this.#noteTime(result === 'cancelled' ? Number.POSITIVE_INFINITY : tookMs)
  }

  /** Ends the round: judges every request that ended without an offer. */
  conclude(): void {
    for (const request of this.#unanswered) request.conclude(this.#verdictOn(request))
  }

  #noteAnswer(now: number): void {
    if (++this.#answers === this.#enough) this.#answeredAt = now
  }

  #noteTime(tookMs: number): void {
    if (tookMs > this.#slowestMs) {
      this.#secondSlowestMs = this.#slowestMs
      this.#slowestMs = tookMs
    } else if (tookMs > this.#secondSlowestMs) this.#secondSlowestMs = tookMs
  }

  #verdictOn({ result, tookMs }: UnansweredRequest): Verdict {
    if (!this.#hasQuote || result === 'cancelled') return 'none'
    if (result === 'late') return 'time_lost'
    const isLast = tookMs === this.#slowestMs
    if (isLast && tookMs - this.#secondSlowestMs > LOST_MS) return 'slow'
    return result === 'declined' ? 'declined' : 'none'
  }
}
