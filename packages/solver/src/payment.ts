import { setTimeout as delay } from 'node:timers/promises'
import type { SolverChain } from './chain/open-chain.js'
import type { SignedTransaction, TransactionSender } from './chain/transactions.js'

interface PaymentOptions {
  readonly sender: TransactionSender
  readonly chain: Pick<SolverChain, 'pollIntervalMs'>
  readonly signal: AbortSignal
}

/** Nodes may have dropped a transaction that waits for longer. */
const SEND_AGAIN_MS = 15_000
/** A block of the last second before the deadline may come late. */
const GRACE_SECONDS = 60

/**
 * Follows a signed payment to its end, and sends the same bytes again now and then: they can be carried out only once.
 * @returns `failed` when another transaction has its nonce, or its deadline is over; undefined when the signal aborts
 * @throws viem's errors
 */
export async function followPayment(
  { transaction, fillDeadline }: { readonly transaction: SignedTransaction; readonly fillDeadline: number },
  { sender, chain, signal }: PaymentOptions,
): Promise<'success' | 'reverted' | 'failed' | undefined> {
  let sentAt = Number.NEGATIVE_INFINITY
  while (!signal.aborted) {
    const outcome = await sender.outcome(transaction)
    if (outcome !== undefined) return outcome
    if (await sender.isReplaced(transaction)) return (await sender.outcome(transaction)) ?? 'failed'
    if (Date.now() / 1000 > fillDeadline + GRACE_SECONDS) return 'failed'
    if (performance.now() - sentAt > SEND_AGAIN_MS) {
      await sender.sendAgain(transaction)
      sentAt = performance.now()
    }
    await delay(chain.pollIntervalMs, undefined, { signal }).catch(() => {})
  }
  return undefined
}
