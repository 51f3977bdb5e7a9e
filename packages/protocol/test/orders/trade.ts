import type { ListedOrder, OrderTerms } from '../../src/orders/order.js'
import type { Address } from '../../src/values/hex.js'

interface TradeOptions extends Partial<OrderTerms> {
  readonly chainId?: number
  readonly user?: Address
  readonly settledAt?: number
  /** Undefined for an order without an event of its deposit. */
  readonly fillSeconds?: number | undefined
  readonly number?: number
}

/** A settled order. */
export function trade(options: TradeOptions = {}): ListedOrder {
  const {
    chainId = 1,
    user = `0x${'1'.repeat(40)}`,
    settledAt = 1_800_000_000,
    number = 1,
    ...terms
  } = options
  const { fillSeconds = 'fillSeconds' in options ? undefined : 1 } = options
  const step = (blockTime: number) => ({
    blockNumber: number,
    logIndex: 0,
    transactionHash: `0x${'2'.repeat(64)}` as const,
    blockTime,
  })
  return {
    chainId,
    orderId: `0x${number.toString(16).padStart(64, '0')}`,
    state: 'SETTLED',
    user,
    solver: `0x${'3'.repeat(40)}`,
    terms: {
      inputToken: `0x${'4'.repeat(40)}`,
      inputAmount: 100n,
      outputToken: `0x${'5'.repeat(40)}`,
      outputAmount: 200n,
      outputChainId: chainId,
      fillDeadline: settledAt + 60,
      ...terms,
    },
    steps: {
      ...(fillSeconds !== undefined && { deposited: step(settledAt - fillSeconds) }),
      settled: step(settledAt),
    },
  }
}
