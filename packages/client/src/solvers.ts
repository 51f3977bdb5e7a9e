import type { Address } from 'viem'
import { readAddress, readInteger, readMessage, readText } from './answer-fields.js'

/** An active solver as the public sees it. */
export interface ListedSolver {
  readonly address: Address
  readonly name: string
  /** When it was first registered with the instance, Unix time in milliseconds. */
  readonly registeredAt: number
}

/** Reads a solver. @throws AggregatorError ANSWER_INVALID */
export function readListedSolver(answer: unknown): ListedSolver {
  const { address, name, registeredAt } = readMessage<'Solver'>(answer)
  return { address: readAddress(address), name: readText(name), registeredAt: readInteger(registeredAt) }
}
