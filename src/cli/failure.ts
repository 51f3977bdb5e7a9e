import type { AggregatorError, ClientReason } from '@quote-aggregator/client'
import { ConfigError } from '../environment.js'
import { EXIT, type ExitCode, exitCodeOf } from './exit-codes.js'
import { printable, shellWord } from './printable.js'

/** Ends a command with a message for a person. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure'
  readonly exitCode: ExitCode

  constructor(exitCode: ExitCode, message: string) {
    super(message)
    this.exitCode = exitCode
  }
}

/** What to do about a reason, where the service's own sentence does not say it. */
const REMEDIES: Partial<Readonly<Record<ClientReason, string>>> = {
  CHAIN_NOT_SUPPORTED: 'The chains of the instance are in <url>/health.',
  NO_QUOTES: 'Is a solver registered? See solvers --chain <id>.',
  CURSOR_UNKNOWN: 'Leave --after out to begin with new events.',
  BOND_INSUFFICIENT: 'Add to the bond on the settlement contract, then register again.',
  SIGNATURE_INVALID: 'Does the instance have another PROTOCOL_NAME? Name it with --protocol-name.',
  TIMESTAMP_OUT_OF_RANGE: "Set this machine's clock.",
  ENDPOINT_REJECTED: 'Use an https endpoint at a public address.',
  ANSWER_INVALID: 'Is it an aggregator? Name another one with --url or AGGREGATOR_URL.',
  TIMED_OUT: 'Allow more time with --timeout, or try again.',
}

/**
 * The error of a call, with what to do about it.
 * @param url the instance that was called
 */
export function toFailure(error: AggregatorError, url: string): CommandFailure {
  const exitCode = exitCodeOf(error.reason)
  if (error.reason === 'CONNECTION_FAILED') {
    const message = `No answer from ${url}. Is the instance running? Name another one with --url or AGGREGATOR_URL.`
    return new CommandFailure(exitCode, message)
  }
  const lines = [`${error.message} (${error.reason})`]
  for (const { field, message } of error.violations) lines.push(`  ${field} ${message}`)
  if (error.retryAfterSeconds !== undefined) lines.push(`Try again in ${error.retryAfterSeconds} s.`)
  const remedy = REMEDIES[error.reason]
  if (remedy !== undefined) lines.push(remedy.replace('<url>', url))
  if (error.quoteId !== undefined)
    lines.push(`What each solver answered: quote --chain <id> --why ${shellWord(error.quoteId)}`)
  return new CommandFailure(exitCode, lines.map(printable).join('\n'))
}

/** The last output for any error of a command. An unexpected error keeps its stack for a bug report. */
export function describe(error: unknown): { readonly exitCode: ExitCode; readonly text: string } {
  if (error instanceof CommandFailure) return { exitCode: error.exitCode, text: error.message }
  if (error instanceof ConfigError) return { exitCode: EXIT.badInput, text: error.message }
  return {
    exitCode: EXIT.unforeseen,
    text: error instanceof Error ? (error.stack ?? error.message) : String(error),
  }
}
