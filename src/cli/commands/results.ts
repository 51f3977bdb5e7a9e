import type { AggregatorClient, OwnResult, OwnResultPage } from '@quote-aggregator/client'
import type { Command } from 'commander'
import { MAX_PAGE_SIZE } from '../../domain/field-rules.js'
import { readInteger } from '../arguments.js'
import { instanceUrl } from '../instance.js'
import type { CliIo } from '../io.js'
import { readAccount } from '../keys.js'
import type { Display } from '../print-result.js'
import { formatDuration, formatTime } from '../printable.js'
import { LIMITS, printItems } from './print-items.js'
import { KEYS, type SignerOptions, takesSigner } from './registration.js'

interface Options extends SignerOptions {
  readonly limit: number
  readonly audience?: string
}

/** `results`: what came of the requests to a solver, for the solver itself. */
export function addResults(program: Command, io: CliIo): void {
  const command = program
    .command('results')
    .summary("list what came of a solver's requests")
    .description(
      "Lists the results of a solver's own requests, the newest first. The instance keeps them for a day.",
    )
    .option('--limit <number>', 'most results', readInteger(1, LIMITS.most), LIMITS.usual)
    .option('--audience <origin>', "the instance's origin in PUBLIC_URLS, if --url has another one")
  takesSigner(command).addHelpText(
    'after',
    `${KEYS}

"distance" is how much worse the offer was than the best one, in basis points. It is known after the deposit deadline.
With --json, each line is one JSON object.`,
  )
  command.action((options: Options) => list(io, options))
}

async function list(io: CliIo, options: Options): Promise<void> {
  const { chain: chainId, protocolName, limit, keyFile } = options
  const account = await readAccount(io, keyFile)
  const { signOwnResults } = await import('@quote-aggregator/client')
  const audience = options.audience ?? instanceUrl(io, options)
  const signed = await signOwnResults(account, { protocolName, chainId, audience })
  const calling = { signal: io.interruption() }
  // One more shows whether there are more.
  const pageSize = Math.min(limit + 1, MAX_PAGE_SIZE)
  let page: OwnResultPage | undefined
  async function* read(client: AggregatorClient) {
    do {
      page = await client.listOwnResults(signed, { pageSize, pageToken: page?.nextPageToken }, calling)
      yield* page.results
    } while (page.nextPageToken !== undefined)
  }
  const render = (results: readonly OwnResult[], display: Display) =>
    page === undefined ? '' : renderResults(results, page, display)
  await printItems(io, options, 'results', read, render)
}

function renderResults(
  results: readonly OwnResult[],
  page: OwnResultPage,
  { table, fields }: Display,
): string {
  const { notAsked, circuitBreaker, coolDown, totalBond, freeBond } = page
  const state = fields([
    ['not asked', notAsked],
    ['circuit breaker', circuitBreaker],
    ['cool-down', coolDown && `level ${coolDown.level}, for ${formatDuration(coolDown.until - Date.now())}`],
    ['total bond', totalBond?.toString()],
    ['free bond', freeBond?.toString()],
  ])
  if (results.length === 0) return `${state}\nNo results are kept.\n`
  const columns = [
    { title: 'time' },
    { title: 'kind', isMinor: true },
    { title: 'outcome' },
    { title: 'reason' },
    { title: 'rank', align: 'right' },
    { title: 'distance', align: 'right' },
    { title: 'ms', align: 'right' },
    { title: 'quote id', isMinor: true },
  ] as const
  return `${state}\n${table(columns, results.map(toRow))}`
}

function toRow({ quoteId, requestedAt, kind, result, distanceBps }: OwnResult): string[] {
  const { outcome, reason, declineCode, httpStatus, rank, durationMs } = result
  const detail = reason ?? declineCode ?? (httpStatus === undefined ? '' : `status ${httpStatus}`)
  const texts = [rank, distanceBps, durationMs].map((number) => (number === undefined ? '' : String(number)))
  return [formatTime(requestedAt / 1000), kind, outcome, detail, ...texts, quoteId ?? '']
}
