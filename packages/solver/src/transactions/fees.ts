import type { Chain } from 'viem'
import { estimateFeesPerGas } from 'viem/actions'
import type { SolverChain } from '../chain/open-chain.js'

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

/**
 * The fees for a node that has refused lower ones: the minimum that it names, or twice as much.
 * @param refusal the node's words
 * @returns undefined when it was refused for something else, or the limit leaves no room
 * @throws viem's errors
 */
export async function acceptedFees(
  chain: SolverChain,
  refused: Fees,
  refusal: string,
): Promise<Fees | undefined> {
  if (!isFeeRefusal(refusal)) return undefined
  const { cap } = await readMarket(chain)
  const wanted = minimumFees(refused, refusal)
  return wanted.maxFeePerGas > cap ? undefined : wanted
}

const FEE_REFUSAL =
  /underpriced|fee too low|gas ?price.*(low|minimum)|minimum.*(gas|fee)|less than block base fee/i
const NAMED_MINIMUM = /(?:minimum needed|minimum(?: gas ?price| fee)?|base ?fee|at least|needed):? *(\d+)/i

/** Whether a node has refused a transaction for its fees, in any wording that is known. */
export function isFeeRefusal(words: string): boolean {
  return FEE_REFUSAL.test(words)
}

/** The fees that a node asks for. @param refusal its words, with a minimum in wei or without */
export function minimumFees({ maxFeePerGas, maxPriorityFeePerGas }: Fees, refusal: string): Fees {
  const named = BigInt(NAMED_MINIMUM.exec(refusal)?.[1] ?? 0)
  if (named > maxPriorityFeePerGas && /tip/i.test(refusal))
    return {
      maxFeePerGas: max(maxFeePerGas + named - maxPriorityFeePerGas, named),
      maxPriorityFeePerGas: named,
    }
  if (named > maxFeePerGas) return { maxFeePerGas: named, maxPriorityFeePerGas }
  const doubled = 2n * maxPriorityFeePerGas + 1n
  return { maxFeePerGas: max(2n * maxFeePerGas, doubled), maxPriorityFeePerGas: doubled }
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
const raised = (fee: bigint) => (fee * 9n) / 8n + 1n
export const max = (one: bigint, other: bigint) => (one > other ? one : other)
export const min = (one: bigint, other: bigint) => (one < other ? one : other)
