import type { AggregatorClient } from '@quote-aggregator/client'
import type { Command } from 'commander'
import { EXIT } from './exit-codes.js'
import { CommandFailure, toFailure } from './failure.js'
import type { CliIo } from './io.js'

export interface InstanceOptions {
  readonly url?: string
  readonly json?: boolean
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
  options: InstanceOptions,
  call: (client: AggregatorClient) => Promise<T>,
): Promise<T> {
  const baseUrl = readUrl(options.url ?? (io.environment().AGGREGATOR_URL || USUAL_URL))
  const { AggregatorError, createAggregatorClient } = await import('@quote-aggregator/client')
  try {
    return await call(createAggregatorClient({ baseUrl }))
  } catch (error) {
    throw error instanceof AggregatorError ? toFailure(error, baseUrl) : error
  }
}

function readUrl(text: string): string {
  const isHttp = URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol)
  if (isHttp) return text.replace(/\/+$/, '')
  const example = 'such as http://localhost:3000'
  throw new CommandFailure(EXIT.badInput, `--url or AGGREGATOR_URL must be an http or https URL, ${example}.`)
}
