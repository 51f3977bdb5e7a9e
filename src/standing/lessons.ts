import { LRUCache } from 'lru-cache'
import type { Address } from '../../packages/protocol/src/values/hex.js'

/** The gap of a solver without a valid offer: it has no rank. In basis points. */
export const NO_OFFER_GAP = 10_000
/** The lessons of a solver that are kept in a pair, and the answers whose times are kept. */
export const KEPT_LESSONS = 9
/** Evidence is a count from 0 to this. A stranger's twenty addresses, each of which teaches a pair once in 10 minutes, cannot end it. */
const MOST_EVIDENCE = 25
/** An answer that was worth the wait counts as much as this many that were not. */
const WORTH = 4
/** From here, 16 answers that were not worth it end the wait, before `MAX_VAIN_WAITS` bars the solver. Two that are bring it back. */
const MOST_WORTH = 20
/** For each basis point that a caller lost, one round may wait for the solver in vain, up to this many. */
const MOST_LOSS = 1000
/** Waits in vain in a row, after which only rounds that are worse than usual wait for a solver in the pair, in that many rounds. */
const MAX_VAIN_WAITS = 20
const UNWAITED_ROUNDS = 200
/** A solver is reliable for this time after its last valid offer in the pair. */
const RELIABLE_MS = 60_000
/** As often as a stranger's twenty addresses may teach that a request brought no offer. */
const PROOF_MS = 30_000
/** The answers of a pair whose rates are kept. Less than half of them are those of a stranger's twenty addresses. */
const KEPT_RATES = 49
/** The clients of a pair whose answers are known, and the part of a better and of a worse rate in their mean. */
const MAX_CLIENTS = 64
const RISE_PART = 1 / 8
const FALL_PART = 1 / 512
/** An answer that is worse than usual by no more is as usual. In basis points, like the next. */
export const MOST_USUAL_DROP = 4
/** How much worse than its mean a client's answers may stay. What they are worse by more adds up, until a round is worse than usual. */
const LASTING_DROP = 1
/** The solvers that won a client's last rounds. They leave places for others. */
const KEPT_WINNERS = 5
/** The pairs of a chain. When there are more, the one goes that was taught longest ago. */
const MAX_PAIRS = 2048
/** The clients of one pair whose last lessons are remembered. */
const MAX_TEACHERS = 1024
const ALONE_MS = 10_000
const KEY_MS = 60_000
const TEACHER_MS = 600_000
/** A solver is expected to quote what it has quoted within this time (docs/decisions.md, D14). */
const EXPECTED_MS = 24 * 3_600_000

/** The last lessons of one solver in one pair. */
export class Lessons {
  readonly #gaps: number[] = []
  /** Above `WORTH` when it is worth waiting for: at least two answers were worth it. */
  #worth = 0
  /** In a row. Below 0, in as many rounds nobody waits for it. */
  #vainWaits = 0
  /** How many rounds that are worse than usual may still wait for it in vain. */
  #owedWaits = 0
  /** Above 0 when of its last offers, more came within the soft deadline than later. */
  #quickness = 0
  /**
   * An offer adds 1, a request without one takes 1 away. Above 0, such a request is no gap, and the breaker does not count: strangers can
   * make requests that a solver declines or leaves unanswered. It begins at the most: after a start, a stranger's lessons come first.
   */
  #presence = MOST_EVIDENCE
  #provedAt = Number.NEGATIVE_INFINITY
  #medianGap: number | undefined
  #quotedAt = Number.NEGATIVE_INFINITY

  /** The median of the gaps; undefined without a lesson. */
  get medianGap(): number | undefined {
    return this.#medianGap
  }

  get isWorthWaiting(): boolean {
    return this.#worth > WORTH && this.#vainWaits >= 0
  }

  /** Whether rounds wait for it while their best offer is worse than usual: one that did not wait has lost by that. */
  get isOwed(): boolean {
    return this.#owedWaits > 0
  }

  /** Whether most of its last offers came within the soft deadline. Declines do not count: strangers choose when it declines. */
  get isQuick(): boolean {
    return this.#quickness > 0
  }

  /** Records that a round which asked the solver in the pair was answered. */
  recordRound(): void {
    if (this.#vainWaits < 0) this.#vainWaits++
  }

  /** The sum of the gaps. It tells apart solvers of the same median: where a round asks only junk, junk has no gap. */
  get sumOfGaps(): number {
    return this.#gaps.reduce((sum, gap) => sum + gap, 0)
  }

  /** @param gap how far an offer was from the best one before the answer, in basis points, 0 to 10,000 */
  addGap(gap: number): void {
    this.#gaps.push(gap)
    if (this.#gaps.length > KEPT_LESSONS) this.#gaps.shift()
    this.#medianGap = medianOf(this.#gaps)
  }

  /** @param isWorth whether the answer came after the soft deadline, at least 1 basis point better than all before it */
  addWorth(isWorth: boolean, wasWaitedFor: boolean): void {
    this.#worth = isWorth ? Math.min(MOST_WORTH, this.#worth + WORTH) : Math.max(0, this.#worth - 1)
    if (!wasWaitedFor) return
    if (this.#vainWaits >= 0) this.#vainWaits = isWorth ? 0 : this.#vainWaits + 1
    if (this.#vainWaits === MAX_VAIN_WAITS) this.#vainWaits = -UNWAITED_ROUNDS
    if (!isWorth) this.#owedWaits = Math.max(0, this.#owedWaits - 1)
  }

  /** Records what a caller lost because its round did not wait for the solver, in basis points. */
  recordLoss(loss: number): void {
    this.#owedWaits = Math.max(this.#owedWaits, Math.min(MOST_LOSS, loss))
  }

  /** Records an offer. Of those in rounds that do not teach the pair, one in `PROOF_MS` counts. */
  recordOffer(isQuick: boolean, isTaught: boolean, now: number): void {
    this.#quotedAt = now
    if (!isTaught && now - this.#provedAt < PROOF_MS) return
    this.#provedAt = now
    this.#presence = counted(this.#presence, 1)
    this.#quickness = counted(this.#quickness, isQuick ? 1 : -1)
  }

  /** Records a request without an offer, in a round that teaches the pair. */
  recordMiss(): void {
    this.#presence = counted(this.#presence, -1)
    if (this.#presence === 0) this.addGap(NO_OFFER_GAP)
  }

  /** Whether rounds ask the solver in the pair, whatever its requests in others came to. */
  isReliable(now: number): boolean {
    return this.#presence > 0 && now - this.#quotedAt <= RELIABLE_MS
  }

  /** Whether the solver has made a valid offer in the pair within a day. */
  hasQuoted(now: number): boolean {
    return now - this.#quotedAt <= EXPECTED_MS
  }
}

function counted(count: number, change: number): number {
  return Math.min(MOST_EVIDENCE, Math.max(0, count + change))
}

/** The lower one of the two in the middle when their number is even; undefined without a value. */
export function medianOf(values: readonly number[]): number | undefined {
  return [...values].sort((one, other) => one - other)[(values.length - 1) >> 1]
}

/** A client that asks for quotes (docs/decisions.md, D14). */
export interface Teacher {
  readonly network: string
  readonly apiKey?: object | undefined
}

/** The best offer that came before the answer of a round. */
export interface Answer {
  /** Output by input. */
  readonly rate: number
  readonly winner: Address
  /** Whom its round asked first. When there is any, it does not teach. */
  readonly askedFirst: readonly Address[]
}

/** One pair of a chain: who was asked there, with their lessons, and which clients have taught it. */
export class Pair {
  readonly #lessons = new Map<Address, Lessons>()
  /** When each client last taught it; the one that did longest ago is the first. */
  readonly #taughtBy = new Map<string, number>()
  /** Output by input of its last answers that taught it, the oldest first. */
  readonly #rates: number[] = []
  /**
   * What each client was answered: the mean of the rates, the sum of small drops below it, and the last winners. Rounds of others change
   * none. Only an answer that is worse than usual takes the mean down: else answers that are each a little worse could.
   */
  readonly #answered = new LRUCache<string, { mean: number; drops: number; winners: Address[] }>({
    max: MAX_CLIENTS,
  })

  /**
   * Output by input as the client usually gets it. It is the median of the pair, or the client's own mean and the drops below it where that
   * is better. Where one honest client asks, strangers make most answers that teach, and could make junk usual. It is infinite until the pair
   * has its rates: strangers may have begun it, so each answer is worse. Later it is not: late offers are free, and would slow new clients.
   */
  usualRate({ network }: Teacher): number {
    if (this.#rates.length < KEPT_RATES) return Number.POSITIVE_INFINITY
    const { mean, drops } = this.#answered.get(network) ?? { mean: 0, drops: 0 }
    return Math.max(mean * (1 + drops / 10_000), medianOf(this.#rates) ?? 0)
  }

  /**
   * Whom a round of the client asks first: the last winners of its rounds, whatever strangers teach. None when the round would teach: else
   * who wins the rounds of its own callers would be taught as better than those who are not asked.
   */
  winnersFor(client: Teacher, now: number): readonly Address[] {
    return this.mayTeach(client, now) ? [] : (this.#answered.get(client.network)?.winners ?? [])
  }

  recordAnswer({ rate, winner }: Answer, { network }: Teacher, isTaught: boolean, now: number): void {
    const { mean, drops, winners } = this.#answered.get(network) ?? { mean: rate, drops: 0, winners: [] }
    const drop = drops + (1 - rate / mean) * 10_000
    const isWorse = drop > MOST_USUAL_DROP
    this.#answered.set(network, {
      mean: mean + (rate - mean) * (rate > mean ? RISE_PART : isWorse ? FALL_PART : 0),
      drops: isWorse ? 0 : Math.max(0, drop - LASTING_DROP),
      winners: [...new Set([winner, ...winners])].slice(0, KEPT_WINNERS),
    })
    if (!isTaught) return
    this.#rates.push(rate)
    if (this.#rates.length > KEPT_RATES) this.#rates.shift()
    this.#taughtBy.delete(network)
    this.#taughtBy.set(network, now)
  }

  /** Undefined for a solver that was never asked in the pair. */
  of(solver: Address): Lessons | undefined {
    return this.#lessons.get(solver)
  }

  /** Whether any solver has made a valid offer in it within a day. */
  wasQuoted(now: number): boolean {
    return [...this.#lessons.values()].some((lessons) => lessons.hasQuoted(now))
  }

  /** The lessons of a solver that was asked. */
  open(solver: Address): Lessons {
    const lessons = this.#lessons.get(solver) ?? new Lessons()
    this.#lessons.set(solver, lessons)
    return lessons
  }

  /**
   * Whether a round of this client teaches the pair: one in 10 minutes, with a key one in a minute. While no other client has
   * taught the pair within 10 minutes, one in 10 s. Rounds at the same time all teach: else strangers could choose which does.
   */
  mayTeach({ network, apiKey }: Teacher, now: number): boolean {
    for (const [earlier, at] of this.#taughtBy) {
      if (at >= now - TEACHER_MS && this.#taughtBy.size <= MAX_TEACHERS) break
      this.#taughtBy.delete(earlier)
    }
    const taughtAt = this.#taughtBy.get(network)
    const isAlone = this.#taughtBy.size === Number(taughtAt !== undefined)
    const restMs = isAlone ? ALONE_MS : apiKey === undefined ? TEACHER_MS : KEY_MS
    return taughtAt === undefined || taughtAt <= now - restMs
  }
}

/** The pair of a round, and whether the round teaches it. */
export type OpenPair = ReturnType<Pairs['open']>

/** The pairs of one chain. A pair is kept from its first lesson on, so that requests without an offer displace none. */
export class Pairs {
  /** Only lessons keep a pair: to look at it does not. */
  readonly #pairs = new LRUCache<string, Pair>({ max: MAX_PAIRS })

  of(key: string): Pair | undefined {
    return this.#pairs.peek(key)
  }

  /** Opens the pair of a firm round that is answered with an offer. */
  open(key: string, client: Teacher, answer: Answer, now: number) {
    const pair = this.of(key) ?? new Pair()
    const isTaught = answer.askedFirst.length === 0 && pair.mayTeach(client, now)
    pair.recordAnswer(answer, client, isTaught, now)
    if (isTaught) this.#pairs.set(key, pair)
    return { pair, isTaught }
  }
}
