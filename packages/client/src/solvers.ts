import type { Address } from 'viem'
import type { Solver } from '../../../gen/aggregator/v1/solver_pb.js'
import { readAddress, readInteger } from './answer-fields.js'

/** An active solver as the public sees it. */
export interface ListedSolver {
  readonly address: Address
  readonly name: string
  /** When it was first registered with the instance, Unix time in milliseconds. */
  readonly registeredAt: number
}

/** Reads a solver. @throws AggregatorError ANSWER_INVALID */
export function readListedSolver({ address, name, registeredAt }: Solver): ListedSolver {
  return { address: readAddress(address), name, registeredAt: readInteger(registeredAt) }
}
