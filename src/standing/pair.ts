import { LRUCache } from 'lru-cache'
import type { Address } from '../../packages/protocol/src/values/hex.js'
import { Gaps, Lessons, medianOf } from './lessons.js'

/** An answer that is worse than usual by no more is as usual. In basis points, like the next. */
export const MOST_USUAL_DROP = 4
/** How much worse than its mean a client's answers may stay. What they are worse by more adds up, until a round is worse than usual. */
const LASTING_DROP = 1
/** The part of a better and of a worse rate in the mean. */
const RISE_PART = 1 / 8
const FALL_PART = 1 / 512
/** A client's gaps of rounds are kept for this time after its last answer. */
const GAPS_MS = 1_800_000
/** The answers of a pair whose rates are kept. Less than half of them are those of a stranger's twenty addresses. */
const KEPT_RATES = 49
/** The pairs of a chain. When there are more, the one goes that was taught longest ago. */
const MAX_PAIRS = 2048
/** The clients of a chain whose answers are known, each in one pair. */
const MAX_CLIENT_ANSWERS = 8192
/** The clients of one pair whose last lessons are remembered. */
const MAX_TEACHERS = 1024
const ALONE_MS = 10_000
const KEY_MS = 60_000
const TEACHER_MS = 600_000

/** A client that asks for quotes (docs/decisions.md, D14). */
export interface Teacher {
  readonly network: string
  readonly apiKey?: object | undefined
}

/**
 * What one client was answered in one pair. Rounds of others change nothing here: where one honest client asks, strangers make most of
 * the answers that teach the pair, and could give junk a rank, or make it usual.
 */
export class ClientAnswers {
  #mean = 0
  /** The sum of small drops below the mean, in basis points. */
  #drops = 0
  readonly #gaps = new Map<Address, Gaps>()
  #recordedAt = Number.NEGATIVE_INFINITY

  /** Output by input as the client usually gets it; 0 before its first answer. */
  get usualRate(): number {
    return this.#mean * (1 + this.#drops / 10_000)
  }

  /**
   * Only an answer that is worse than usual takes the mean down: else answers that are each a little worse could. After half an hour without
   * an answer, gaps are old: the pair's are better.
   */
  record(rate: number, now: number): void {
    if (now - this.#recordedAt > GAPS_MS) this.#gaps.clear()
    this.#recordedAt = now
    const mean = this.#mean || rate
    const drop = this.#drops + (1 - rate / mean) * 10_000
    const isWorse = drop > MOST_USUAL_DROP
    this.#mean = mean + (rate - mean) * (rate > mean ? RISE_PART : isWorse ? FALL_PART : 0)
    this.#drops = isWorse ? 0 : Math.max(0, drop - LASTING_DROP)
  }

  addGap(solver: Address, gap: number): void {
    const gaps = this.#gaps.get(solver) ?? new Gaps()
    this.#gaps.set(solver, gaps)
    gaps.add(gap)
  }

  /** The solver's gaps in the rounds of the client; undefined without one. */
  gapsOf(solver: Address): Gaps | undefined {
    return this.#gaps.get(solver)
  }
}

/** One pair of a chain: who was asked there, with their lessons, and which clients have taught it. */
export class Pair {
  readonly #lessons = new Map<Address, Lessons>()
  /** When each client last taught it; the one that did longest ago is the first. */
  readonly #taughtBy = new Map<string, number>()
  /** Output by input of its last answers that taught it, the oldest first. */
  readonly #rates: number[] = []
  readonly #key: string
  readonly #answers: LRUCache<string, ClientAnswers>

  /** @param answers of the clients of the chain */
  constructor(key: string, answers: LRUCache<string, ClientAnswers>) {
    this.#key = key
    this.#answers = answers
  }

  /**
   * Output by input as the client usually gets it: by the median of the pair, or by the client's own answers where that is better. It is
   * infinite until the pair has its rates: strangers may have begun it, so each answer is worse. Later it is not: late offers are free,
   * and would slow new clients.
   */
  usualRate(client: Teacher): number {
    if (this.#rates.length < KEPT_RATES) return Number.POSITIVE_INFINITY
    return Math.max(this.#answersOf(client)?.usualRate ?? 0, medianOf(this.#rates) ?? 0)
  }

  /**
   * The answers by which a round of the client ranks the solvers. Undefined when the round would teach the pair: else who wins the rounds of
   * its own callers would be taught as better than those who are not asked.
   */
  ownAnswers(client: Teacher, now: number): ClientAnswers | undefined {
    return this.#mayTeach(client, now) ? undefined : this.#answersOf(client)
  }

  #answersOf({ network }: Teacher): ClientAnswers | undefined {
    return this.#answers.get(`${this.#key} ${network}`)
  }

  /**
   * Records the answer of a round.
   * @param rankedBy the client's own answers, by which the round ranked the solvers; undefined when it ranked by the pair
   */
  recordAnswer(client: Teacher, rate: number, rankedBy: ClientAnswers | undefined, now: number) {
    const isTaught = rankedBy === undefined && this.#mayTeach(client, now)
    const own = this.#answersOf(client) ?? new ClientAnswers()
    own.record(rate, now)
    this.#answers.set(`${this.#key} ${client.network}`, own)
    if (isTaught) this.#recordTeacher(client, rate, now)
    return { pair: this, own, isTaught }
  }

  #recordTeacher({ network }: Teacher, rate: number, now: number): void {
    this.#rates.push(rate)
    if (this.#rates.length > KEPT_RATES) this.#rates.shift()
    this.#taughtBy.delete(network)
    this.#taughtBy.set(network, now)
    for (const [earlier, at] of this.#taughtBy) {
      if (at >= now - TEACHER_MS && this.#taughtBy.size <= MAX_TEACHERS) break
      this.#taughtBy.delete(earlier)
    }
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
  #mayTeach({ network, apiKey }: Teacher, now: number): boolean {
    const taughtAt = this.#taughtBy.get(network) ?? Number.NEGATIVE_INFINITY
    const isAlone = [...this.#taughtBy].every(([other, at]) => other === network || at < now - TEACHER_MS)
    const restMs = isAlone ? ALONE_MS : apiKey === undefined ? TEACHER_MS : KEY_MS
    return taughtAt <= now - restMs
  }
}

/** The pair of a round whose answer is recorded, the answers of its client there, and whether the round teaches the pair. */
export type OpenPair = ReturnType<Pair['recordAnswer']>

/** The pairs of one chain. A pair is kept from its first lesson on, so that requests without an offer displace none. */
export class Pairs {
  /** Only lessons keep a pair: to look at it does not. */
  readonly #pairs = new LRUCache<string, Pair>({ max: MAX_PAIRS })
  readonly #answers = new LRUCache<string, ClientAnswers>({ max: MAX_CLIENT_ANSWERS })

  of(key: string): Pair | undefined {
    return this.#pairs.peek(key)
  }

  /** Opens the pair of a firm round that is answered with an offer, with the arguments of `recordAnswer`. */
  open(key: string, ...answer: Parameters<Pair['recordAnswer']>): OpenPair {
    const pair = this.of(key) ?? new Pair(key, this.#answers)
    const open = pair.recordAnswer(...answer)
    if (open.isTaught) this.#pairs.set(key, pair)
    return open
  }
}
