import type { Address, Hex } from 'viem'
import type { Clock } from '../../../src/clock.js'
import type { ChainTime } from './chain/chain-time.js'
import type { SolverChain } from './chain/open-chain.js'
import { cancelCall, isNonceUsed, readBalance, readOrder } from './chain/orders.js'
import type { SolverQuote } from './fillable-order.js'
import type { Filling } from './filling.js'
import type { Payments } from './payments.js'
import { createSlots } from './slots.js'
import type { SolverState } from './state.js'

/** What became of a quote that was to be cancelled. */
export interface CancelledQuote {
  readonly orderId: Hex
  /** `CANCELLED` on the chain. `TAKEN`: its deposit came first, so the order is filled as any other, or has ended. */
  readonly outcome: 'CANCELLED' | 'TAKEN'
}

interface CancellingOptions {
  readonly chain: SolverChain
  readonly solver: Address
  readonly clock: Clock
  readonly time: Pick<ChainTime, 'passed'>
  readonly state: SolverState
  readonly payments: Payments
  readonly filling: Pick<Filling, 'deposited'>
  readonly onCancelled: (signed: SolverQuote) => void
  readonly onError: (error: unknown) => void
  readonly signal: AbortSignal
}

/** Cancels quotes on one chain. While a quote is cancelled, no payment of its order is signed. */
export interface Cancelling {
  /** @throws viem's errors of the first look at the chain, and the signal's reason */
  cancel(signed: SolverQuote): Promise<CancelledQuote>
  /** Goes on with what a stopped process has begun. */
  resume(): void
}

const MAX_DELAY_MS = 10_000

/** Builds it. The contract decides between a deposit and a cancellation: both use the same nonce of the quote. */
export function createCancelling(options: CancellingOptions): Cancelling {
  const { chain, clock, time, solver, state, payments, filling, signal, onError } = options
  const running = new Map<Hex, Promise<CancelledQuote>>()
  const slots = createSlots(chain.maxPayments)

  async function begin(signed: SolverQuote): Promise<CancelledQuote> {
    const { orderId, chainId, quote } = signed
    const taken = { orderId, outcome: 'TAKEN' } as const
    if (await isTaken(signed)) {
      filling.deposited(orderId, quote.fillDeadline, 'ADDRESS')
      return taken
    }
    state.addOrder({ orderId, chainId, fillDeadline: quote.fillDeadline })
    const status = state.order(orderId)?.status
    if (status === 'CANCELLED') return { orderId, outcome: status }
    if (payments.isUnderWay(orderId) || (status !== 'OPEN' && status !== 'CANCELLING')) return taken
    state.setStatus(orderId, 'CANCELLING')
    return slots.run(quote.fillDeadline, () => finish(signed))
  }

  /** Whether the deposit is there, and can still be paid. */
  async function isTaken({ orderId, quote, depositAddress }: SolverQuote): Promise<boolean> {
    if ((await readOrder(chain, orderId)).state !== 'NONE') return true
    if (time.passed() > quote.fillDeadline || (await isNonceUsed(chain, solver, quote.nonce))) return false
    return (await readBalance(chain, quote.inputToken, depositAddress)) >= quote.inputAmount
  }

  async function finish(signed: SolverQuote): Promise<CancelledQuote> {
    let delayMs = chain.pollIntervalMs
    while (!signal.aborted) {
      try {
        if (await isNonceUsed(chain, solver, signed.quote.nonce)) return await conclude(signed)
        await useNonce(signed)
      } catch (error) {
        if (signal.aborted) break
        onError(error)
        await clock.sleep(delayMs, signal).catch(() => {})
        delayMs = Math.min(2 * delayMs, MAX_DELAY_MS)
      }
    }
    throw signal.reason
  }

  async function useNonce({ orderId, quote }: SolverQuote): Promise<void> {
    const id = `cancellation ${orderId}`
    if (!payments.isUnderWay(id)) await payments.send(id, cancelCall(chain, quote.nonce))
    if ((await payments.follow(id)) !== undefined) payments.forget(id)
  }

  async function conclude(signed: SolverQuote): Promise<CancelledQuote> {
    const { orderId, quote } = signed
    if ((await readOrder(chain, orderId)).state === 'NONE') {
      state.setStatus(orderId, 'CANCELLED')
      options.onCancelled(signed)
      return { orderId, outcome: 'CANCELLED' }
    }
    state.setStatus(orderId, 'OPEN')
    filling.deposited(orderId, quote.fillDeadline, 'CONTRACT')
    return { orderId, outcome: 'TAKEN' }
  }

  function cancel(signed: SolverQuote): Promise<CancelledQuote> {
    const { orderId } = signed
    const cancelled = running.get(orderId) ?? begin(signed).finally(() => running.delete(orderId))
    running.set(orderId, cancelled)
    return cancelled
  }

  return {
    cancel,
    resume() {
      for (const { chainId, orderId } of state.cancellingOrders()) {
        const signed = state.quote(orderId)
        if (chainId !== chain.chainId || signed === undefined) continue
        cancel(signed).catch((error) => {
          if (!signal.aborted) onError(error)
        })
      }
    },
  }
}
