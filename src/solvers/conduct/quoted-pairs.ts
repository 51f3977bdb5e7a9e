import { LRUCache } from 'lru-cache'

const MAX_PAIRS = 512
const LIFETIME_MS = 24 * 3_600_000
/** The shortest interval between two updates of a pair's time. */
const REFRESH_MS = 60_000

/** The token pairs that one solver has quoted within 24 hours, the last 512 of them (docs/decisions.md, D14). */
export class QuotedPairs {
  /** Undefined until the first offer. */
  #quotedAt: LRUCache<string, number> | undefined

  /** Records a valid offer. */
  record(pair: string, now: number): void {
    this.#quotedAt ??= new LRUCache({ max: MAX_PAIRS })
    const last = this.#quotedAt.get(pair)
    if (last === undefined || now - last > REFRESH_MS) this.#quotedAt.set(pair, now)
  }

  /** Whether the solver is expected to quote this pair. A solver that has never quoted is expected to quote every pair. */
  canExpect(pair: string, now: number): boolean {
    if (this.#quotedAt === undefined) return true
    const last = this.#quotedAt.get(pair)
    return last !== undefined && now - last <= LIFETIME_MS
  }
}
