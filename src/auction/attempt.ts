import { rank } from '../../packages/protocol/src/quotes/offer.js'
import type { SignedQuote } from '../../packages/protocol/src/quotes/quote.js'
import { askedSession, type Solver } from '../../packages/protocol/src/solvers/solver.js'
import {
  isOverdue,
  responseOf,
  type Selection,
  type SolverResult,
} from '../../packages/protocol/src/solvers/solver-result.js'
import type { Address } from '../../packages/protocol/src/values/hex.js'
import type { CallSignal } from '../clients/call.js'
import type { SolverCall } from '../solvers/transport/solver-transports.js'
import type { OpenRequest } from '../standing/standing.js'
import type { Asked } from './solver-choice.js'

/** The request to one solver, with its result. */
export interface SolverAttempt extends Selection {
  readonly solver: Address
  /** Its id of the quote, and its index in the order of requests (docs/decisions.md, D15). */
  readonly quoteId: string
  readonly index: number
  readonly result: SolverResult
  /** Milliseconds that the solver had, without pauses of this process. */
  readonly tookMs: number
  /** Milliseconds from the start of its round to the moment from which it had it. */
  readonly sentAfterMs: number
  /** The solver with the session on which it got the request; undefined when it was sent over HTTP, or not at all. */
  readonly onSession?: Solver | undefined
  /** Set when the request had not ended at the answer. The result says what ended the wait for it. */
  readonly isOpen?: true
}

/** What an attempt needs of its round. */
interface AttemptRound {
  readonly offeredAt: number | undefined
  /** For how many milliseconds the process was paused when the round was due to end. */
  readonly pausedMs: number
}

export const CUT_OFF: SolverResult = { kind: 'cancelled', isQueued: true }

/** The request to one solver, from its slot to its result. */
export class Attempt implements OpenRequest, SolverCall, CallSignal {
  readonly asked: Asked
  readonly index: number
  readonly quoteId: string
  readonly round: AttemptRound
  readonly isExpected: boolean
  readonly #clock: () => number
  readonly #requestedAt: number
  /** What its round has ended it with. */
  #endedBy: SolverResult | undefined
  readonly #onAbort = new Set<() => void>()
  /** When it got its slot. */
  #startedAt: number | undefined
  #sentAt: number | undefined
  #isReleased = false
  /** What its round's caller was told before it had ended; undefined when it ended before the answer. */
  told: SolverAttempt | undefined

  /** @param index in the order of requests */
  constructor(asked: Asked, index: number, quoteId: string, round: AttemptRound, clock: () => number) {
    this.asked = asked
    this.index = index
    this.quoteId = quoteId
    this.round = round
    this.isExpected = asked.isExpected
    this.#clock = clock
    this.#requestedAt = clock()
  }

  /** Whether its round has ended it. */
  get aborted(): boolean {
    return this.#endedBy !== undefined
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#onAbort.add(listener)
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#onAbort.delete(listener)
  }

  get waitingSince(): number | undefined {
    return this.#sentAt ?? this.#startedAt
  }

  /** Takes a slot, or waits for one. @returns false when the request was ended before */
  async takeSlot(): Promise<boolean> {
    const { slots } = this.asked
    if (slots.tryTake()) this.#startedAt = this.#requestedAt
    else this.#startedAt = await slots.wait(this)
    return this.#startedAt !== undefined
  }

  onSent(): void {
    this.#sentAt = this.#clock()
    this.asked.slots.lastSentAt = this.#sentAt
  }

  /** Gives its slot back, once. */
  onEnd(): void {
    if (this.#startedAt === undefined || this.#isReleased) return
    this.#isReleased = true
    this.asked.slots.unyield(this.#giveWay)
    this.asked.slots.release(this.#startedAt, this.#clock())
  }

  /** Ends the request, or what is left of its reply. A request without a reply has this result. */
  end(result: SolverResult): void {
    if (this.#endedBy !== undefined) return
    this.#endedBy = result
    for (const listener of this.#onAbort) listener()
  }

  /** Reads on after the round's answer. A request that waits for a slot ends: no caller needs it. */
  readOn(): void {
    if (this.#startedAt === undefined) this.#giveWay()
    else this.asked.slots.yield(this.#giveWay)
  }

  readonly #giveWay = () => this.end(CUT_OFF)

  /** The result of a reply. One that its round has ended has the result of that, unless it never reached the solver. */
  resultOf(reached: SolverResult): SolverResult {
    if (this.#endedBy === undefined) return reached
    const wasUnreachable = reached.kind === 'cancelled' && reached.reason !== undefined
    return wasUnreachable && isOverdue(this.#endedBy) ? reached : this.#endedBy
  }

  /** The attempt with a result at this moment. A solver that had less than the whole time because of this service is not late. */
  settle(reached: SolverResult): SolverAttempt {
    const { index, quoteId } = this
    const { solver, chosenBy, gapBps, isWaitedFor } = this.asked
    const result = isOverdue(reached) && this.#isLateByUs() ? CUT_OFF : reached
    const { waitingSince = this.#requestedAt } = this
    const tookMs = Math.max(0, this.#clock() - waitingSince - this.round.pausedMs)
    const sentAfterMs = waitingSince - this.#requestedAt
    const onSession = askedSession(solver) !== undefined && this.#sentAt !== undefined ? solver : undefined
    const request = { solver: solver.address, quoteId, index, chosenBy, gapBps, isWaitedFor }
    return { ...request, result, tookMs, sentAfterMs, onSession }
  }

  /** Whether the request waited for a slot, or for a connection while other requests were sent. */
  #isLateByUs(): boolean {
    if (this.#startedAt !== this.#requestedAt) return true
    return this.#sentAt === undefined && this.asked.slots.lastSentAt >= this.#startedAt
  }
}

/** How long the answer of a solver took; undefined without an answer. */
export function answeredInMs({ result, tookMs }: SolverAttempt): number | undefined {
  return result.kind === 'failed' || responseOf(result) === undefined ? undefined : tookMs
}

/** @returns the valid offers, best first */
export function rankedOffers(attempts: readonly SolverAttempt[]): SignedQuote[] {
  return rank(attempts.flatMap(({ result }) => (result.kind === 'quoted' ? [result.offer] : [])))
}

/** @returns the requests with these offers in their order, and then the others */
export function sortByRank(
  attempts: readonly SolverAttempt[],
  offers: readonly SignedQuote[],
): SolverAttempt[] {
  const placeOf = ({ result }: SolverAttempt) =>
    result.kind === 'quoted' ? offers.indexOf(result.offer) : offers.length
  return [...attempts].sort((one, other) => placeOf(one) - placeOf(other))
}

/** How many solvers a round asks, and their results by kind. */
export interface RoundCounts extends Readonly<Record<SolverResult['kind'], number>> {
  readonly asked: number
}

/** Counts the results that have come. @param asked the solvers that the round asks */
export function countResults(asked: number, attempts: readonly Pick<SolverAttempt, 'result'>[]): RoundCounts {
  const unanswered = { late: 0, soft_deadline: 0, failed: 0, circuit_open: 0, cancelled: 0 }
  const counts = { asked, quoted: 0, declined: 0, invalid: 0, ...unanswered }
  for (const { result } of attempts) counts[result.kind]++
  return counts
}
