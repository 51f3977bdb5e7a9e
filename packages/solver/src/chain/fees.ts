import type { Chain } from 'viem'
import { estimateFeesPerGas } from 'viem/actions'
import type { SolverChain } from './open-chain.js'

/** What a transaction of EIP-1559 pays at most, in wei for a unit of gas. */
export interface Fees {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** Without a limit of the market maker, a payment never offers more than this many times what the node suggests. */
const MOST_OF_SUGGESTED = 10n
/** Base fees may double before it is mined. What is not needed is not paid. */
const MARGIN = { chain: { fees: { baseFeeMultiplier: 2 } } as Chain }

/** The fees of a first attempt. @throws viem's errors */
export async function firstFees(chain: SolverChain): Promise<Fees> {
  const { suggested, cap } = await readMarket(chain)
  return capped(suggested, cap)
}

/**
 * The fees of an attempt in the place of an earlier one: both higher by at least 12.5 %, as nodes want it, or twice as high.
 * @param isRefused the node wants higher ones, and may not say in numbers how high
 * @returns undefined when the limit leaves no room for that
 * @throws viem's errors
 */
export async function raisedFees(
  chain: SolverChain,
  earlier: Fees,
  isRefused = false,
): Promise<Fees | undefined> {
  const { suggested, cap } = await readMarket(chain)
  const raised = isRefused ? doubled : replacing
  // One that was refused is not replaced, so that any higher one will do.
  const isAtLimit = isRefused ? earlier.maxPriorityFeePerGas >= cap : raised(earlier.maxFeePerGas) > cap
  if (isAtLimit) return undefined
  const wanted = {
    maxFeePerGas: max(raised(earlier.maxFeePerGas), suggested.maxFeePerGas),
    maxPriorityFeePerGas: max(raised(earlier.maxPriorityFeePerGas), suggested.maxPriorityFeePerGas),
  }
  return capped(wanted, cap)
}

const FEE_REFUSAL =
  /underpriced|fee too low|gas ?price.*(low|minimum)|minimum.*(gas|fee)|less than block base fee/i

/** Whether a node has refused a transaction for its fees, in any wording that is known. */
export function isFeeRefusal(words: string): boolean {
  return FEE_REFUSAL.test(words)
}

async function readMarket(chain: SolverChain) {
  const suggested = await estimateFeesPerGas(chain.client, MARGIN)
  return { suggested, cap: chain.maxFeePerGas ?? MOST_OF_SUGGESTED * suggested.maxFeePerGas }
}

function capped({ maxFeePerGas, maxPriorityFeePerGas }: Fees, cap: bigint): Fees {
  const most = min(maxFeePerGas, cap)
  return { maxFeePerGas: most, maxPriorityFeePerGas: min(maxPriorityFeePerGas, most) }
}

/** Nodes replace a transaction only by one with more than an equal fee, also when that is 0. */
const replacing = (fee: bigint) => (fee * 9n) / 8n + 1n
const doubled = (fee: bigint) => 2n * fee + 1n
export const max = (one: bigint, other: bigint) => (one > other ? one : other)
export const min = (one: bigint, other: bigint) => (one < other ? one : other)
