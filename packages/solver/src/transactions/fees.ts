import type { Chain } from 'viem'
import { estimateFeesPerGas } from 'viem/actions'
import type { SolverChain } from '../chain/open-chain.js'

/** What a transaction of EIP-1559 pays at most, in wei for a unit of gas. */
export interface Fees {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** Without a limit of the market maker, a payment never offers more than this many times what the node suggests, or than 2 gwei. */
const MOST_OF_SUGGESTED = 10n
const LEAST_CAP = 2_000_000_000n
/** The second attempt where the first one offered nothing. */
const LEAST_FEE = 1_000_000_000n
/** Base fees may double before it is mined. What is not needed is not paid. */
const MARGIN = { chain: { fees: { baseFeeMultiplier: 2 } } as Chain }

/**
 * Reads what transactions must offer at present.
 * @param leastTip below which the node takes nothing, as far as is known
 * @throws viem's errors
 */
export async function readMarket(chain: SolverChain, leastTip = 0n) {
  const { maxFeePerGas, maxPriorityFeePerGas } = await estimateFeesPerGas(chain.client, MARGIN)
  const more = max(0n, leastTip - maxPriorityFeePerGas)
  const [most, tip] = [maxFeePerGas + more, maxPriorityFeePerGas + more]
  const cap = chain.maxFeePerGas ?? max(MOST_OF_SUGGESTED * maxFeePerGas, LEAST_CAP)
  const capped = (most: bigint, tip: bigint): Fees => ({
    maxFeePerGas: min(most, cap),
    maxPriorityFeePerGas: min(tip, min(most, cap)),
  })

  return {
    /** The limit is below what a transaction needs when the base fee doubles. */
    isCapped: cap < most,
    /** The fees of a first attempt. */
    first: capped(most, tip),
    /**
     * The fees of an attempt that nodes accept in the place of an earlier one: both higher by at least 12.5 %.
     * @returns undefined when the limit leaves no room for that
     */
    raised(earlier: Fees): Fees | undefined {
      const least = raised(earlier.maxFeePerGas)
      if (least > cap) return undefined
      return capped(max(least, most), max(raised(earlier.maxPriorityFeePerGas), tip))
    },
    /**
     * The fees of the second attempt at a node that has refused the first one: twice as much. A minimum that the node names shortens the way.
     * @param refusal the node's words
     * @returns undefined when the limit leaves no room
     */
    doubled({ maxFeePerGas, maxPriorityFeePerGas }: Fees, refusal: string): Fees | undefined {
      const tip = max(doubled(maxPriorityFeePerGas), namedFee(refusal, cap))
      const fees = capped(max(doubled(maxFeePerGas), maxFeePerGas + tip - maxPriorityFeePerGas), tip)
      const isHigher = fees.maxFeePerGas > maxFeePerGas || fees.maxPriorityFeePerGas > maxPriorityFeePerGas
      return isHigher && fees.maxFeePerGas >= maxFeePerGas ? fees : undefined
    },
  }
}

/** A refusal for want of funds names what the account has. */
const FEE_WORDS = /^(?!.*\bfunds\b).*(fee|price|tip|underpriced)/is
/** Not a part of hex digits, or of an amount with its unit. */
const WEI = /(?<![\w.])\d{1,30}(?![\w.])/g

/** The largest number of a refusal that is about fees, and not above the limit; 0 without one. */
export function namedFee(words: string, cap: bigint): bigint {
  if (!FEE_WORDS.test(words)) return 0n
  const numbers = [...words.matchAll(WEI)].map(([digits]) => BigInt(digits))
  return numbers.filter((number) => number <= cap).reduce(max, 0n)
}

const doubled = (fee: bigint) => (fee === 0n ? LEAST_FEE : 2n * fee)
/** Nodes replace a transaction only by one with more than an equal fee, also when that is 0. */
const raised = (fee: bigint) => (fee * 9n) / 8n + 1n
export const max = (one: bigint, other: bigint) => (one > other ? one : other)
export const min = (one: bigint, other: bigint) => (one < other ? one : other)
