import type { AggregatorError, ClientReason } from '@quote-aggregator/client'

/** The exit codes of commands. */
export const EXIT = {
  done: 0,
  unforeseen: 1,
  badInput: 2,
  unavailable: 3,
  refused: 4,
  unhealthy: 5,
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** Descriptions of the exit codes, in the order of their numbers. */
export const EXIT_CODE_HELP: readonly [code: ExitCode, meaning: string][] = [
  [EXIT.done, 'done; watch: ended by Ctrl-C'],
  [EXIT.unforeseen, 'unexpected error; serve: the service could not start'],
  [EXIT.badInput, 'wrong usage or bad input: the message names the field'],
  [EXIT.unavailable, 'not available now, such as no quotes or an unreachable instance: try again later'],
  [EXIT.refused, 'rejected, such as a signature, a bond or an unknown chain: another try will not help'],
  [EXIT.unhealthy, 'doctor, certify: at least one check failed'],
  [EXIT.interrupted, 'interrupted before the end'],
]

/** The exit code of each reason. A new reason does not compile until it has an exit code here. */
const CODES: Readonly<Record<ClientReason, ExitCode>> = {
  INVALID_ARGUMENT: EXIT.badInput,
  CURSOR_UNKNOWN: EXIT.badInput,
  NO_QUOTES: EXIT.unavailable,
  SOLVERS_BUSY: EXIT.unavailable,
  CHAIN_UNAVAILABLE: EXIT.unavailable,
  DATABASE_UNAVAILABLE: EXIT.unavailable,
  RATE_LIMITED: EXIT.unavailable,
  STREAM_LIMIT_REACHED: EXIT.unavailable,
  SUBSCRIBER_TOO_SLOW: EXIT.unavailable,
  SESSION_LIMIT_REACHED: EXIT.unavailable,
  SESSION_STALLED: EXIT.unavailable,
  SHUTTING_DOWN: EXIT.unavailable,
  CONNECTION_FAILED: EXIT.unavailable,
  TIMED_OUT: EXIT.unavailable,
  ANSWER_INVALID: EXIT.unavailable,
  CHAIN_NOT_SUPPORTED: EXIT.refused,
  SOLVER_NOT_FOUND: EXIT.refused,
  QUOTE_NOT_FOUND: EXIT.refused,
  ROUTE_NOT_FOUND: EXIT.refused,
  METHOD_NOT_ALLOWED: EXIT.refused,
  SIGNATURE_INVALID: EXIT.refused,
  TIMESTAMP_OUT_OF_RANGE: EXIT.refused,
  TIMESTAMP_REUSED: EXIT.refused,
  BOND_INSUFFICIENT: EXIT.refused,
  ENDPOINT_REJECTED: EXIT.refused,
  SOLVER_BLOCKED: EXIT.refused,
  SOLVER_LIMIT_REACHED: EXIT.refused,
  SESSIONS_OFF: EXIT.refused,
  CHALLENGE_EXPIRED: EXIT.refused,
  AUDIENCE_REJECTED: EXIT.refused,
  SESSION_REPLACED: EXIT.refused,
  ORDER_STATE_UNREACHABLE: EXIT.refused,
  INTERNAL: EXIT.unforeseen,
  CANCELLED: EXIT.interrupted,
}

/** The exit code for a call of an instance that failed. A reason of a newer instance counts by its HTTP status. */
export function exitCodeOf({
  reason,
  httpStatus = 0,
}: Pick<AggregatorError, 'reason' | 'httpStatus'>): ExitCode {
  if (isKnown(reason)) return CODES[reason]
  return httpStatus === 429 || httpStatus >= 500 ? EXIT.unavailable : EXIT.refused
}

function isKnown(reason: string): reason is ClientReason {
  return Object.hasOwn(CODES, reason)
}
