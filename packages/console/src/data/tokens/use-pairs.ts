import type { ListPairsResponse } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { chainService } from '../api.js'
import { type Query, useQuery } from '../query.js'

const REFRESH_MS = 600_000

/** The pairs that were traded on a chain, and how much in the last day. */
export function usePairs(chainId: bigint): Query<ListPairsResponse> {
  return useQuery(`pairs ${chainId}`, (signal) => chainService.listPairs({ chainId }, { signal }), {
    refreshMs: REFRESH_MS,
    refreshOnUse: true,
  })
}
