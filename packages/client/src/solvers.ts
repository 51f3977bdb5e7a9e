import type { Address } from 'viem'
import { readAddress, readChoice, readInteger, readMessage, readOptional, readText } from './answer-fields.js'

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

const CHECK_OUTCOMES = ['QUOTED', 'DECLINED', 'INVALID', 'LATE', 'FAILED', 'SKIPPED'] as const

/** What came of the one request that the instance has sent to the registered endpoint. */
export interface RegistrationCheck {
  /** The proto says what each means. */
  readonly outcome: (typeof CHECK_OUTCOMES)[number]
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
export function readRegisteredSolver(answer: unknown): RegisteredSolver {
  const { address, check } = readMessage<'RegisterSolverResponse'>(answer)
  return { address: readAddress(address), check: readOptional(check, readRegistrationCheck) }
}

function readRegistrationCheck(answer: unknown): RegistrationCheck {
  const { outcome, explanation } = readMessage<'RegistrationCheck'>(answer)
  return { outcome: readChoice(CHECK_OUTCOMES, outcome), explanation: readText(explanation) }
}
