import { create } from '@bufbuild/protobuf'
import {
  type ChainHealth,
  ChainHealthSchema,
  ChainStatus,
} from '../../../gen/aggregator/v1/chain_health_pb.js'
import type { Chain } from '../../chain/chain.js'
import type { SolverDirectory } from '../../solvers/registry/solver-directory.js'
import { toUpperCase } from '../convert/convert.js'
import { toUint64 } from '../convert/convert-chains.js'

interface ChainHealthOptions {
  readonly chains: ReadonlyMap<number, Pick<Chain, 'status'>>
  readonly directory: Pick<SolverDirectory, 'active'>
}

/** The health of all chains of an instance, in the order of its configuration. */
export type ReadChainHealth = () => readonly ChainHealth[]

/** A report of this age is old. */
const MAX_AGE_MS = 1000

/** Builds the report of the chains for streams of events. Within a second it is the same one, so that many streams share it. */
export function createChainHealth({ chains, directory }: ChainHealthOptions): ReadChainHealth {
  let report: readonly ChainHealth[] = []
  let madeAt = Number.NEGATIVE_INFINITY
  return () => {
    const now = performance.now()
    if (now - madeAt >= MAX_AGE_MS) {
      madeAt = now
      report = [...chains.values()].map((chain) => {
        const { chainId, status, headBlock, lagMs } = chain.status()
        return create(ChainHealthSchema, {
          chainId: BigInt(chainId),
          status: ChainStatus[toUpperCase(status)],
          headBlock: toUint64(headBlock),
          lagMs: toUint64(lagMs && Math.round(lagMs)),
          activeSolvers: directory.active(chainId).length,
        })
      })
    }
    return report
  }
}
