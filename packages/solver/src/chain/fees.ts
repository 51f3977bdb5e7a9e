import { estimateFeesPerGas } from 'viem/actions'
import type { SolverChain } from './open-chain.js'

/** What a transaction of EIP-1559 pays at most, in wei for a unit of gas. */
export interface Fees {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** Without a limit of the market maker, a payment never offers more than this many times what the node suggests. */
const MOST_OF_SUGGESTED = 10n

/** The fees of a first attempt. @throws viem's errors */
export async function firstFees(chain: SolverChain): Promise<Fees> {
  const { suggested, cap } = await readMarket(chain)
  return capped(suggested, cap)
}

/**
 * The fees of an attempt that nodes accept in the place of an earlier one: both higher by at least 12.5 %.
 * @returns undefined when the limit leaves no room for that
 * @throws viem's errors
 */
export async function raisedFees(chain: SolverChain, earlier: Fees): Promise<Fees | undefined> {
  const { suggested, cap } = await readMarket(chain)
  if (raised(earlier.maxFeePerGas) > cap) return undefined
  const wanted = {
    maxFeePerGas: max(raised(earlier.maxFeePerGas), suggested.maxFeePerGas),
    maxPriorityFeePerGas: max(raised(earlier.maxPriorityFeePerGas), suggested.maxPriorityFeePerGas),
  }
  return capped(wanted, cap)
}

async function readMarket(chain: SolverChain) {
  const suggested = await estimateFeesPerGas(chain.client)
  return { suggested, cap: chain.maxFeePerGas ?? MOST_OF_SUGGESTED * suggested.maxFeePerGas }
}

function capped({ maxFeePerGas, maxPriorityFeePerGas }: Fees, cap: bigint): Fees {
  const most = min(maxFeePerGas, cap)
  return { maxFeePerGas: most, maxPriorityFeePerGas: min(maxPriorityFeePerGas, most) }
}

/** Nodes replace a transaction only by one with more than an equal fee, also when that is 0. */
const raised = (fee: bigint) => (fee * 9n) / 8n + 1n
const max = (one: bigint, other: bigint) => (one > other ? one : other)
const min = (one: bigint, other: bigint) => (one < other ? one : other)
