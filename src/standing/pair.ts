import { LRUCache } from 'lru-cache'
import { Scorecard, type Scorecards } from './scorecard.js'

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

/** One pair of a chain: its scorecard, and which clients have taught it. */
export class Pair {
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
