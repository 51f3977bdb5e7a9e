import type { AggregatorError, ClientReason } from '@quote-aggregator/client'
import { REASONS, type Reason } from '../../protocol/src/errors.js'

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

/** The reasons whose exit code is not that of their HTTP status. */
const CODES: Readonly<Partial<Record<string, ExitCode>>> = {
  INVALID_ARGUMENT: EXIT.badInput,
  CURSOR_UNKNOWN: EXIT.badInput,
  CONNECTION_FAILED: EXIT.unavailable,
  TIMED_OUT: EXIT.unavailable,
  ANSWER_INVALID: EXIT.unavailable,
  SESSIONS_OFF: EXIT.refused,
  INTERNAL: EXIT.unforeseen,
  CANCELLED: EXIT.interrupted,
} satisfies Partial<Record<ClientReason, ExitCode>>

/** The exit code for a call of an instance that failed. The status of a reason counts, or of the answer for a newer reason. */
export function exitCodeOf({
  reason,
  httpStatus = 0,
}: Pick<AggregatorError, 'reason' | 'httpStatus'>): ExitCode {
  const { http: status = httpStatus } = REASONS[reason as Reason] ?? {}
  return CODES[reason] ?? (status === 429 || status >= 500 ? EXIT.unavailable : EXIT.refused)
}
