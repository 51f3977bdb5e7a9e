import type { AggregatorError, ClientReason } from '@quote-aggregator/client'
import { EXIT, type ExitCode, exitCodeOf } from './exit-codes.js'
import { printable, shellWord } from './output/printable.js'

/** Ends a command with a message for a person. An interruption needs none. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure'
  readonly exitCode: ExitCode

  constructor(exitCode: ExitCode, message = '') {
    super(message)
    this.exitCode = exitCode
  }
}

/** Wrong usage, or bad input: the message names what. */
export const badInput = (message: string) => new CommandFailure(EXIT.badInput, message)
/** What cannot be had now: another try later may help. */
export const unavailable = (message: string) => new CommandFailure(EXIT.unavailable, message)
/** What is refused for good. */
export const refused = (message: string) => new CommandFailure(EXIT.refused, message)

const NAME_ANOTHER = 'Is it a running aggregator? Name another one with --url or AGGREGATOR_URL.'
const SET_KEY = 'Set AGGREGATOR_API_KEY to a valid key of this instance.'

/** What to do about a reason, where the service's own sentence does not say. */
const REMEDIES: Readonly<Partial<Record<string, string>>> = {
  CONNECTION_FAILED: NAME_ANOTHER,
  API_KEY_INVALID: SET_KEY,
  API_KEY_REQUIRED: SET_KEY,
  CURSOR_UNKNOWN:
    'Leave --after out to begin with new events, or begin with the oldest one with --after earliest.',
  BOND_INSUFFICIENT: 'Add to the bond on the settlement contract, then register again.',
  SIGNATURE_INVALID: 'Does the instance have another PROTOCOL_NAME? Name it with --protocol-name.',
  ANSWER_INVALID: NAME_ANOTHER,
  TIMED_OUT: 'Try again.',
} satisfies Partial<Record<ClientReason, string>>

/**
 * Says what went wrong and what to do about it.
 * @param commandLine makes the command line of a command for the same instance and chain
 */
export function toFailure(error: AggregatorError, commandLine: (command: string) => string): CommandFailure {
  const { reason, violations } = error
  const lines = [`${violations.length === 0 ? error.message : 'The request is not valid.'} (${reason})`]
  for (const { field, message } of violations) lines.push(`  ${field} ${message}`)
  if (error.retryAfterSeconds !== undefined) lines.push(`Try again in ${error.retryAfterSeconds} s.`)
  const remedy = REMEDIES[reason]
  if (remedy !== undefined) lines.push(remedy)
  if (reason === 'NO_QUOTES') lines.push(`Is a solver registered? See ${commandLine('solvers')}`)
  if (error.quoteId !== undefined)
    lines.push(`What each solver answered: ${commandLine(`quote --why ${shellWord(error.quoteId)}`)}`)
  return new CommandFailure(exitCodeOf(error), lines.map(printable).join('\n'))
}
