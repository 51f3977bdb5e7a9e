import type { Hex } from 'viem'

/** What became of a quote that was to be cancelled. */
export interface CancelledQuote {
  readonly orderId: Hex
  /**
   * `CANCELLED` on the chain. `TAKEN`: its deposit came first, so the order is filled as any other, or has ended. `KEPT`: the user
   * pays at the deposit address, and the contract would keep the tokens; the kit ends it after the middle of its fill window. `OPEN`:
   * `maxCancelFees` does not allow its cancellation now; it stays open, and the kit ends it as any other.
   */
  readonly outcome: 'CANCELLED' | 'TAKEN' | 'KEPT' | 'OPEN'
}

type Outcome = CancelledQuote['outcome']

/** Somebody who asked to cancel a quote. */
interface Waiter {
  resolve(outcome: Outcome): void
  reject(reason: unknown): void
}

/** The quotes that the market maker wants to be cancelled before their time, by their nonces. */
export type CancelRequests = ReturnType<typeof createCancelRequests>

/** Builds it, without any. */
export function createCancelRequests() {
  const waiters = new Map<bigint, Waiter[]>()
  return {
    /** @returns what has become of the quote @throws what its looks throw; it is cancelled later nevertheless */
    add: (nonce: bigint) =>
      new Promise<Outcome>((resolve, reject) => {
        waiters.set(nonce, [...(waiters.get(nonce) ?? []), { resolve, reject }])
      }),
    has: (nonce: bigint) => waiters.has(nonce),
    nonces: (): Iterable<bigint> => waiters.keys(),
    /** It is known what becomes of a quote. */
    conclude(nonce: bigint, outcome: Outcome): void {
      for (const { resolve } of waiters.get(nonce) ?? []) resolve(outcome)
      waiters.delete(nonce)
    },
    /** A look at a quote has failed. It stays wanted. */
    fail(nonce: bigint, error: unknown): void {
      for (const { reject } of waiters.get(nonce) ?? []) reject(error)
    },
  }
}
