import { LRUCache } from 'lru-cache'
import type { Address } from '../../packages/protocol/src/values/hex.js'
import { Lessons, medianOf } from './lessons.js'

/** The answers whose rates are kept. In a pair, less than half of them are those of a stranger's twenty addresses. */
const KEPT_RATES = 49
/** The pairs of a chain. When there are more, the one goes that was taught longest ago. */
const MAX_PAIRS = 2048
/** The scorecards of clients on a chain, each for one pair. When there are more, the one goes that was used longest ago. */
const MAX_CLIENT_SCORECARDS = 4096
/** A client's scorecard is kept for this time after its last answer: then the pair's is better. */
const CLIENT_SCORECARD_MS = 1_800_000
/** The clients of one pair whose last lessons are remembered. */
const MAX_TEACHERS = 1024
const KEY_MS = 60_000
const TEACHER_MS = 600_000

/** A client that asks for quotes (docs/decisions.md, D14). */
export interface Teacher {
  readonly network: string
  readonly apiKey?: object | undefined
}

/** What rounds have taught of the solvers that they asked, and of the rates that they answered (docs/decisions.md, D30). */
export class Scorecard {
  readonly #lessons = new Map<Address, Lessons>()
  /** Output by input of its last answers, the oldest first. */
  readonly #rates: number[] = []
  /** Their median; 0 without one. */
  usualRate = 0
  /** When the last answer was recorded. */
  answeredAt = Number.NEGATIVE_INFINITY

  addRate(rate: number, now: number): void {
    this.answeredAt = now
    this.#rates.push(rate)
    if (this.#rates.length > KEPT_RATES) this.#rates.shift()
    this.usualRate = medianOf(this.#rates) ?? 0
  }

  /** Undefined for a solver that no round has asked. */
  of(solver: Address): Lessons | undefined {
    return this.#lessons.get(solver)
  }

  /** The lessons of a solver that was asked. */
  open(solver: Address): Lessons {
    const lessons = this.#lessons.get(solver) ?? new Lessons()
    this.#lessons.set(solver, lessons)
    return lessons
  }

  /** Whether any solver has made a valid offer within a day. */
  wasQuoted(now: number): boolean {
    return [...this.#lessons.values()].some((lessons) => lessons.hasQuoted(now))
  }
}

/** What a round knows when it begins: the scorecard of its pair, and that of its client in the pair. */
export interface Scorecards {
  readonly pair: Scorecard | undefined
  readonly client: Scorecard | undefined
  /**
   * Whether the round may teach the pair. It ranks by the pair's scorecard then: else who wins the rounds of its own callers would be taught as
   * better than those who are not asked.
   */
  readonly mayTeach: boolean
}

/** Output by input as the client usually gets it: in the pair, or in its own rounds where that is better. 0 when nothing is known. */
export function usualRate({ pair, client }: Scorecards): number {
  return Math.max(pair?.usualRate ?? 0, client?.usualRate ?? 0)
}

/** One pair of a chain: its scorecard, and which clients have taught it. */
class Pair {
  readonly scorecard = new Scorecard()
  /** When each client last taught it; the one that did longest ago is the first. */
  readonly #taughtBy = new Map<string, number>()

  /** Whether a round of this client teaches the pair: one in 10 minutes, with a key one in a minute. */
  mayTeach({ network, apiKey }: Teacher, now: number): boolean {
    const taughtAt = this.#taughtBy.get(network) ?? Number.NEGATIVE_INFINITY
    return taughtAt <= now - (apiKey === undefined ? TEACHER_MS : KEY_MS)
  }

  recordTeacher({ network }: Teacher, now: number): void {
    this.#taughtBy.delete(network)
    this.#taughtBy.set(network, now)
    for (const [earlier, at] of this.#taughtBy) {
      if (at >= now - TEACHER_MS && this.#taughtBy.size <= MAX_TEACHERS) break
      this.#taughtBy.delete(earlier)
    }
  }
}

/** The scorecards into which a round that was answered writes its lessons. */
export interface OpenScorecards {
  readonly pair: Scorecard
  readonly client: Scorecard
  /** Whether the round teaches the pair. */
  readonly isTaught: boolean
}

/**
 * The pairs of one chain, and what each client was answered in each. Rounds of others change nothing in a client's scorecard: where one honest client
 * asks, strangers make most of the answers that teach the pair, and could give junk a rank, or make it usual.
 */
export class Pairs {
  /** Only lessons keep a pair: to look at it does not. */
  readonly #pairs = new LRUCache<string, Pair>({ max: MAX_PAIRS })
  readonly #clients = new LRUCache<string, Scorecard>({ max: MAX_CLIENT_SCORECARDS })

  /** The scorecard of a pair; undefined until a round has taught it. */
  of(key: string): Scorecard | undefined {
    return this.#pairs.peek(key)?.scorecard
  }

  /** What is known when a firm round of the client begins. */
  scorecardsOf(key: string, client: Teacher, now: number): Scorecards {
    const pair = this.#pairs.peek(key)
    return {
      pair: pair?.scorecard,
      client: this.#clientScorecard(key, client, now),
      mayTeach: pair?.mayTeach(client, now) ?? true,
    }
  }

  /**
   * Records the rate of the answer of a firm round. A pair is kept from its first lesson on, so that requests without an offer displace none.
   * @param mayTeach whether the round might teach the pair when it began: by that it has ranked
   */
  recordRate(key: string, client: Teacher, rate: number, mayTeach: boolean, now: number): OpenScorecards {
    const pair = this.#pairs.peek(key) ?? new Pair()
    const own = this.#clientScorecard(key, client, now) ?? new Scorecard()
    own.addRate(rate, now)
    this.#clients.set(clientKey(key, client), own)
    const isTaught = mayTeach && pair.mayTeach(client, now)
    if (isTaught) {
      pair.scorecard.addRate(rate, now)
      pair.recordTeacher(client, now)
      this.#pairs.set(key, pair)
    }
    return { pair: pair.scorecard, client: own, isTaught }
  }

  #clientScorecard(key: string, client: Teacher, now: number): Scorecard | undefined {
    const scorecard = this.#clients.get(clientKey(key, client))
    return scorecard !== undefined && now - scorecard.answeredAt <= CLIENT_SCORECARD_MS
      ? scorecard
      : undefined
  }
}

function clientKey(key: string, { network }: Teacher): string {
  return `${key} ${network}`
}
