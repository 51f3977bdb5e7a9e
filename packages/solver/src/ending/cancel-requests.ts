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

/** Somebody who asked to cancel a quote before its time. */
interface CancelRequest {
  resolve(outcome: Outcome): void
  /** A look at the quote has failed. Its end stays wanted. */
  reject(reason: unknown): void
}

/** An open quote, which somebody may want to be cancelled. */
export interface Cancellable {
  /** Who waits for its cancellation; undefined when nobody has asked for it. */
  requests?: readonly CancelRequest[] | undefined
}

/** @returns what has become of a quote @throws what its looks throw; it is cancelled later nevertheless */
export const askToCancel = (quote: Cancellable) =>
  new Promise<Outcome>((resolve, reject) => {
    quote.requests = [...(quote.requests ?? []), { resolve, reject }]
  })

/** It is known what becomes of a quote. */
export function conclude(quote: Cancellable | undefined, outcome: Outcome): void {
  for (const { resolve } of quote?.requests ?? []) resolve(outcome)
  if (quote !== undefined) quote.requests = undefined
}
