import type { Address } from 'viem'
import { CheckOutcome, type RegisterSolverResponse, type Solver } from '../../gen/aggregator/v1/solver_pb.js'
import { readAddress, readChoice, readInteger } from './answer-fields.js'

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

const CHECK_OUTCOMES = {
  [CheckOutcome.QUOTED]: 'QUOTED',
  [CheckOutcome.REFUSED]: 'REFUSED',
  [CheckOutcome.INVALID]: 'INVALID',
  [CheckOutcome.LATE]: 'LATE',
  [CheckOutcome.FAILED]: 'FAILED',
  [CheckOutcome.SKIPPED]: 'SKIPPED',
} as const

/** What came of the one request that the instance has sent to the registered endpoint. */
export interface RegistrationCheck {
  /** The proto says what each means. */
  readonly outcome: (typeof CHECK_OUTCOMES)[keyof typeof CHECK_OUTCOMES]
  /** The outcome in words, for a person. */
  readonly explanation: string
}

/** A registration as the instance has taken it. */
export interface RegisteredSolver {
  readonly address: Address
  /** Undefined when the instance is of a version that checks no endpoints. */
  readonly check: RegistrationCheck | undefined
}

/** Reads the answer to a registration. @throws AggregatorError ANSWER_INVALID */
export function readRegisteredSolver({ address, check }: RegisterSolverResponse): RegisteredSolver {
  return {
    address: readAddress(address),
    check: check && {
      outcome: readChoice(CHECK_OUTCOMES, check.outcome),
      explanation: check.explanation,
    },
  }
}
