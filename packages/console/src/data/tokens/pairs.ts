import type { PairSummary } from '../../../../../gen/aggregator/v1/chain_pb.js'

/** The listed pair on one chain that was traded last; undefined when there is none. */
export function lastListedPair(pairs: readonly PairSummary[], chainId: bigint): PairSummary | undefined {
  return pairs
    .filter(({ listed, destinationChainId }) => listed && destinationChainId === chainId)
    .toSorted((a, b) => Number((b.lastUsed ?? 0n) - (a.lastUsed ?? 0n)))[0]
}

/** Whether two swaps trade the same tokens in the same direction. */
export function isOfPair(
  swap: { readonly inputToken?: string | undefined; readonly outputToken?: string | undefined },
  sell: string,
  buy: string,
): boolean {
  return (
    swap.inputToken?.toLowerCase() === sell.toLowerCase() &&
    swap.outputToken?.toLowerCase() === buy.toLowerCase()
  )
}
