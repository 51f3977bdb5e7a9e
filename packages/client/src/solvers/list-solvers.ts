import {
  listOf,
  messageReader,
  optional,
  type ReadBy,
  type Readers,
  readAddress,
  readEnum,
  readInteger,
  readText,
} from '../calls/answer-fields.js'
import type { Messages } from '../calls/message-types.js'

/** An active solver as the public sees it. */
export interface ListedSolver extends ReadBy<typeof SOLVER> {}
const SOLVER = {
  address: readAddress,
  name: readText,
  /** When it was first registered with the instance, Unix time in milliseconds. */
  registeredAt: readInteger,
} satisfies Readers<'Solver'>

/** Reads the solvers of a chain. @throws UnreadableAnswer */
export const readSolvers = listOf(messageReader(SOLVER))

/** The result of the one request that the instance has sent to the registered endpoint. */
export interface RegistrationCheck extends ReadBy<typeof CHECK> {}
const CHECK = {
  /** The proto describes each. A newer instance may have further ones. */
  outcome: readEnum<Messages['RegistrationCheck']['outcome']>,
  /** The outcome in words, for a person. */
  explanation: readText,
} satisfies Readers<'RegistrationCheck'>

/** A registration that the instance has accepted. */
export interface RegisteredSolver extends ReadBy<typeof REGISTERED> {}
const REGISTERED = {
  address: readAddress,
  /** Undefined for an instance of a version that does not check endpoints. */
  check: optional(messageReader(CHECK)),
} satisfies Readers<'RegisterSolverResponse'>

/** Reads the answer to a registration. @throws UnreadableAnswer */
export const readRegisteredSolver = messageReader(REGISTERED)
