import { LRUCache } from 'lru-cache'
import { Book, type Books } from './book.js'

/** The pairs of a chain. When there are more, the one goes that was taught longest ago. */
const MAX_PAIRS = 2048
/** The books of clients on a chain, each for one pair. When there are more, the one goes that was used longest ago. */
const MAX_CLIENT_BOOKS = 4096
/** A client's book is kept for this time after its last answer: then the pair's is better. */
const CLIENT_BOOK_MS = 1_800_000
/** The clients of one pair whose last lessons are remembered. */
const MAX_TEACHERS = 1024
const KEY_MS = 60_000
const TEACHER_MS = 600_000

/** A client that asks for quotes (docs/decisions.md, D14). */
export interface Teacher {
  readonly network: string
  readonly apiKey?: object | undefined
}

/** One pair of a chain: its book, and which clients have taught it. */
export class Pair {
  readonly book = new Book()
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

/** The books into which a round that was answered writes its lessons. */
export interface OpenBooks {
  readonly pair: Book
  readonly client: Book
  /** Whether the round teaches the pair. */
  readonly isTaught: boolean
}

/**
 * The pairs of one chain, and what each client was answered in each. Rounds of others change nothing in a client's book: where one honest client
 * asks, strangers make most of the answers that teach the pair, and could give junk a rank, or make it usual.
 */
export class Pairs {
  /** Only lessons keep a pair: to look at it does not. */
  readonly #pairs = new LRUCache<string, Pair>({ max: MAX_PAIRS })
  readonly #clients = new LRUCache<string, Book>({ max: MAX_CLIENT_BOOKS })

  /** The book of a pair; undefined until a round has taught it. */
  of(key: string): Book | undefined {
    return this.#pairs.peek(key)?.book
  }

  /** What is known when a firm round of the client begins. */
  booksOf(key: string, client: Teacher, now: number): Books {
    const pair = this.#pairs.peek(key)
    return {
      pair: pair?.book,
      client: this.#clientBook(key, client, now),
      mayTeach: pair?.mayTeach(client, now) ?? true,
    }
  }

  /**
   * Records the answer of a firm round. A pair is kept from its first lesson on, so that requests without an offer displace none.
   * @param mayTeach whether the round might teach the pair when it began: by that it has ranked
   */
  recordAnswer(key: string, client: Teacher, rate: number, mayTeach: boolean, now: number): OpenBooks {
    const pair = this.#pairs.peek(key) ?? new Pair()
    const own = this.#clientBook(key, client, now) ?? new Book()
    own.recordAnswer(rate, now)
    this.#clients.set(clientKey(key, client), own)
    const isTaught = mayTeach && pair.mayTeach(client, now)
    if (isTaught) {
      pair.book.recordAnswer(rate, now)
      pair.recordTeacher(client, now)
      this.#pairs.set(key, pair)
    }
    return { pair: pair.book, client: own, isTaught }
  }

  #clientBook(key: string, client: Teacher, now: number): Book | undefined {
    const book = this.#clients.get(clientKey(key, client))
    return book !== undefined && now - book.answeredAt <= CLIENT_BOOK_MS ? book : undefined
  }
}

function clientKey(key: string, { network }: Teacher): string {
  return `${key} ${network}`
}
