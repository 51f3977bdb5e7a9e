import type { Address } from 'viem'
import { readAddress, readEnum, readInteger, readMessage, readOptional, readText } from './answer-fields.js'
import type { Messages, UnknownText } from './messages.js'

/** An active solver as the public sees it. */
export interface ListedSolver {
  readonly address: Address
  readonly name: string
  /** When it was first registered with the instance, Unix time in milliseconds. */
  readonly registeredAt: number
}

/** Reads a solver. @throws UnreadableAnswer */
export function readListedSolver(answer: unknown): ListedSolver {
  const { address, name, registeredAt } = readMessage<'Solver'>(answer)
  return { address: readAddress(address), name: readText(name), registeredAt: readInteger(registeredAt) }
}

/** The result of the one request that the instance has sent to the registered endpoint. */
export interface RegistrationCheck {
  /** The proto describes each. A newer instance may have further ones. */
  readonly outcome: Messages['RegistrationCheck']['outcome'] | UnknownText
  /** The outcome in words, for a person. */
  readonly explanation: string
}

/** A registration that the instance has accepted. */
export interface RegisteredSolver {
  readonly address: Address
  /** Undefined for an instance of a version that does not check endpoints. */
  readonly check: RegistrationCheck | undefined
}

/** Reads the answer to a registration. @throws UnreadableAnswer */
export function readRegisteredSolver(answer: unknown): RegisteredSolver {
  const { address, check } = readMessage<'RegisterSolverResponse'>(answer)
  return { address: readAddress(address), check: readOptional(check, readRegistrationCheck) }
}

function readRegistrationCheck(answer: unknown): RegistrationCheck {
  const { outcome, explanation } = readMessage<'RegistrationCheck'>(answer)
  return { outcome: readEnum(outcome), explanation: readText(explanation) }
}
