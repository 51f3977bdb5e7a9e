import type { AggregatorClient } from '@quote-aggregator/client'
import type { Command } from 'commander'
import { EXIT } from './exit-codes.js'
import { CommandFailure, toFailure } from './failure.js'
import type { CliIo } from './io.js'
import { shellWord } from './printable.js'

export interface InstanceFlags {
  readonly url?: string
  readonly json?: boolean
  readonly chain?: number | readonly number[]
}

const USUAL_URL = 'http://localhost:3000'

/** Adds the options of every command that calls an instance. */
export function takesInstance(command: Command): Command {
  return command
    .option('--url <url>', `the instance; AGGREGATOR_URL when not given, else ${USUAL_URL}`)
    .option('--json', 'JSON on standard output, for scripts; amounts are decimal strings')
}

/**
 * Calls an instance.
 * @throws CommandFailure with what to do, in place of the client's errors
 */
export async function callInstance<T>(
  io: CliIo,
  options: InstanceFlags,
  call: (client: AggregatorClient) => Promise<T>,
): Promise<T> {
  const url = instanceUrl(io, options)
  const { AggregatorError, createAggregatorClient } = await import('@quote-aggregator/client')
  try {
    return await call(
      createAggregatorClient({ baseUrl: url, apiKey: io.environment().AGGREGATOR_API_KEY?.trim() }),
    )
  } catch (error) {
    if (!(error instanceof AggregatorError)) throw error
    throw toFailure(error, { url, commandLine: (text) => commandLine(io, options, text) })
  }
}

/**
 * A command line that a person can copy: another command for the same instance and chain.
 * @param command with its own arguments
 */
export function commandLine(io: CliIo, options: InstanceFlags, command: string): string {
  const url = instanceUrl(io, options)
  const words = ['npx quote-aggregator', command]
  if (typeof options.chain === 'number') words.push(`--chain ${options.chain}`)
  if (url !== USUAL_URL) words.push(`--url ${shellWord(url)}`)
  return words.join(' ')
}

/** The instance's URL, as it may be printed. */
export function instanceUrl(io: CliIo, options: InstanceFlags): string {
  const text = (options.url ?? (io.environment().AGGREGATOR_URL || USUAL_URL)).trim()
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw badUrl('must be an http or https URL, such as http://localhost:3000')
  if (url.username !== '' || url.password !== '') throw badUrl('must have no user name and no password')
  return (url.origin + url.pathname).replace(/\/+$/, '')
}

function badUrl(mustBe: string): CommandFailure {
  return new CommandFailure(EXIT.badInput, `--url or AGGREGATOR_URL ${mustBe}.`)
}
