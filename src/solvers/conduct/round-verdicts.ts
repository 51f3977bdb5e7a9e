import type { QuoteRequest } from '../../../packages/protocol/src/quotes/quote.js'
import {
  isOverdue,
  responseOf,
  type SolverResult,
} from '../../../packages/protocol/src/solvers/solver-result.js'

/** What a request without an offer means for its solver (docs/decisions.md, D14). */
export type Verdict =
  /** The caller waited for no offer until the service's own timeout or soft deadline. */
  | 'time_lost'
  /** The caller waited longer for this solver than for all others, and got no offer. */
  | 'slow'
  /** The solver declined in time, and another solver made an offer. */
  | 'declined'
  /** Nothing. */
  | 'none'

/** A request of a round that ended without an offer. */
export interface UnansweredRequest {
  readonly result: SolverResult
  /** The time that the solver had, in milliseconds, without the time in a queue of this service. */
  readonly tookMs: number
  /** Called once, at the end of the round. */
  conclude(verdict: Verdict): void
}

/** A result without an offer loses time when it comes this much later than the last other result. */
const LOST_MS = 100

interface QuoteRoundOptions {
  readonly request: Pick<QuoteRequest, 'inputToken' | 'outputToken'>
  /** On the clock of the solvers' health. */
  readonly startedAt: number
  /** The longest time of the round. */
  readonly limitMs: number
  /** Time from the request to the start of the round; 0 by default. */
  readonly waitedMs?: number
  /** The key by which circuit breakers count the client that waits for the round. */
  readonly client: string
}

/** The requests to solvers for one quote. At the end, each is compared with the others. */
export class QuoteRound {
  /** The token pair, as a key. */
  readonly pair: string
  readonly startedAt: number
  readonly limitMs: number
  readonly waitedMs: number
  /** The client that waits for the round. */
  readonly client: string
  readonly #unanswered: UnansweredRequest[] = []
  #pausedMs = () => 0
  #enough = 1
  #responses = 0
  #answeredAt: number | undefined
  #hasQuote = false
  #slowestMs = 0
  #secondSlowestMs = 0

  constructor({ request, startedAt, limitMs, waitedMs = 0, client }: QuoteRoundOptions) {
    this.pair = `${request.inputToken}${request.outputToken}`
    this.startedAt = startedAt
    this.limitMs = limitMs
    this.waitedMs = waitedMs
    this.client = client
  }

  /** When half of the other solvers had answered, for any solver; undefined until then. */
  get answeredAt(): number | undefined {
    return this.#answeredAt
  }

  /** Whether a solver has made a valid offer. */
  get hasQuote(): boolean {
    return this.#hasQuote
  }

  /** For how many milliseconds the process was paused since the round began. */
  get pausedMs(): number {
    return this.#pausedMs()
  }

  /** @param size the number of solvers that the round waits for */
  begin(size: number, pausedMs = () => 0): void {
    this.#enough = Math.max(1, Math.ceil((size - 1) / 2))
    this.#pausedMs = pausedMs
  }

  /** Records a valid offer. */
  recordQuote(tookMs: number, now: number): void {
    this.#hasQuote = true
    this.#recordResponse(now)
    this.#recordTime(tookMs)
  }

  /** Records a request that ended without an offer. */
  recordUnanswered(request: UnansweredRequest, now: number): void {
    const { result, tookMs } = request
    this.#unanswered.push(request)
    if (responseOf(result) !== undefined) this.#recordResponse(now)
    // The solver might have taken any time, so no other result counts as the last one.
    this.#recordTime(result.kind === 'cancelled' ? Number.POSITIVE_INFINITY : tookMs)
  }

  /** Ends the round with a verdict for every request that ended without an offer. */
  conclude(): void {
    for (const request of this.#unanswered) request.conclude(this.#verdictOn(request))
  }

  #recordResponse(now: number): void {
    if (++this.#responses === this.#enough) this.#answeredAt = now
  }

  #recordTime(tookMs: number): void {
    if (tookMs > this.#slowestMs) {
      this.#secondSlowestMs = this.#slowestMs
      this.#slowestMs = tookMs
    } else if (tookMs > this.#secondSlowestMs) this.#secondSlowestMs = tookMs
  }

  #verdictOn({ result, tookMs }: UnansweredRequest): Verdict {
    if (!this.#hasQuote || result.kind === 'cancelled') return 'none'
    if (isOverdue(result)) return 'time_lost'
    const isLast = tookMs === this.#slowestMs
    if (isLast && tookMs - this.#secondSlowestMs > LOST_MS) return 'slow'
    return responseOf(result) === 'decline' ? 'declined' : 'none'
  }
}
