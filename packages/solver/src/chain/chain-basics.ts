import type { Address } from 'viem'
import type { SolverParts } from '../solver-parts.js'
import type { ChainTime } from './chain-time.js'
import type { SolverChain } from './open-chain.js'

/** What all parts of a chain are built from. */
export interface ChainBasics extends SolverParts {
  readonly chain: SolverChain
  /** The account, in lower case. */
  readonly solver: Address
  readonly time: ChainTime
  /** Gives an error to `onError`, at most once a minute for each reason. */
  readonly report: (reason: string, error: unknown) => void
}
