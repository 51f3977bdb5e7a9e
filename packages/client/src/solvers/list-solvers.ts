import type { Address } from 'viem'
import {
  listOf,
  messageReader,
  optional,
  readAddress,
  readEnum,
  readInteger,
  readText,
} from '../calls/answer-fields.js'
import type { Messages, UnknownText } from '../calls/message-types.js'

/** An active solver as the public sees it. */
export interface ListedSolver {
  readonly address: Address
  readonly name: string
  /** When it was first registered with the instance, Unix time in milliseconds. */
  readonly registeredAt: number
}

/** Reads the solvers of a chain. @throws UnreadableAnswer */
export const readSolvers = listOf(
  messageReader<'Solver', ListedSolver>({ address: readAddress, name: readText, registeredAt: readInteger }),
)

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
export const readRegisteredSolver = messageReader<'RegisterSolverResponse', RegisteredSolver>({
  address: readAddress,
  check: optional(
    messageReader<'RegistrationCheck', RegistrationCheck>({ outcome: readEnum, explanation: readText }),
  ),
})
