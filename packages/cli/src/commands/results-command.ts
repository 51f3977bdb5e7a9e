import type { OwnResult, OwnResultPage } from '@quote-aggregator/client'
import type { Command } from 'commander'
import { MAX_PAGE_SIZE } from '../../../protocol/src/field-rules.js'
import { readInteger, readOneOf } from '../arguments.js'
import { LIMITS, takesInstance } from '../called-instance.js'
import type { CliIo } from '../io.js'
import { formatTime } from '../output/printable.js'
import { GROUPINGS, GROUPS, type Grouping, groupResults, reasonOf } from '../output/results-by.js'
import type { Column } from '../output/tables.js'
import { readAccount } from '../solver-key.js'
import { KEYS, type SignerOptions, takesSigner } from './registration-commands.js'

interface Options extends SignerOptions {
  readonly limit?: number
  readonly by?: Grouping
  readonly audience?: string
}

const WAITED_FOR: Readonly<Record<string, string>> = { true: 'yes', false: 'no' }
const COLUMNS: readonly Column<OwnResult>[] = [
  ['time', ({ requestedAt }) => formatTime(requestedAt / 1000)],
  ['kind', ({ kind }) => kind, 'minor'],
  ['outcome', ({ result }) => result.outcome],
  ['reason', ({ result }) => reasonOf(result)],
  ['rank', ({ result }) => result.rank],
  ['chosen by', ({ result }) => result.chosenBy, 'minor'],
  ['gap', ({ result }) => result.gapBps],
  ['waited for', ({ result: { isWaitedFor } }) => WAITED_FOR[`${isWaitedFor}`], 'minor'],
  ['distance', ({ distanceBps }) => distanceBps],
  ['ms', ({ result }) => result.durationMs],
  ['quote id', ({ quoteId }) => quoteId, 'minor'],
]

/** `results`: what came of the requests to a solver, for the solver itself. */
export function addResults(program: Command, io: CliIo): void {
  const command = program
    .command('results')
    .description(
      "Lists the results of a solver's own requests, the newest first. The instance keeps them for a day.",
    )
    .option(
      '--limit <number>',
      `most results; default: ${LIMITS.usual}, with --by ${LIMITS.most}`,
      readInteger(1, LIMITS.most),
    )
    .option('--by <group>', `sums up quotes by ${GROUPINGS.join(', ')}`, readOneOf(GROUPINGS))
    .option('--audience <origin>', "the instance's origin in PUBLIC_URLS, if --url has another one")
    .addHelpText(
      'after',
      `${KEYS}

"chosen by" says why it was asked: ALL, RANK or TURN. "gap" is the median of its last distances from the best offers of the pair,
in basis points, by which it is ranked. "waited for" says whether a quote that has offers waits for it.
With --by, "rank" and "distance" are medians. "lost" counts the quotes whose best offer was not yours, with what was asked for in them and why:
"outbid" when you made an offer. An order that you did not fill is "missed" in the books, and not here.
"distance" is how much worse the offer was than the best one, in basis points. It is known after the deposit deadline.
With --json, each line is one JSON object.`,
    )
  takesInstance(takesSigner(command), io, async (instance, options: Options) => {
    const { chain: chainId, protocolName, by, keyFile, audience = instance.url } = options
    const { limit = by === undefined ? LIMITS.usual : LIMITS.most } = options
    const account = await readAccount(io, keyFile)
    const { signOwnResults } = await import('@quote-aggregator/client')
    const signed = await signOwnResults(account, { protocolName, chainId, audience })
    // One more shows whether there are more.
    const pageSize = Math.min(limit + 1, MAX_PAGE_SIZE)
    let page: OwnResultPage | undefined
    await instance.printList(
      'results',
      limit,
      async function* (client, calling) {
        do {
          page = await client.listOwnResults(signed, { pageSize, pageToken: page?.nextPageToken }, calling)
          yield* page.results
        } while (page.nextPageToken !== undefined)
      },
      async (results, { table, fields }) => {
        if (page === undefined) return ''
        const formatBond = await instance.amounts.formatBond(chainId)
        const state = fields([
          ['not asked', page.notAsked],
          ['circuit breaker', page.circuitBreaker],
          ['total bond', formatBond(page.totalBond)],
          ['free bond', formatBond(page.freeBond)],
        ])
        if (results.length === 0) return `${state}\nNo results are kept.\n`
        if (by === undefined) return `${state}\n${table(COLUMNS, results)}`
        const format = await instance.amounts.format(chainId)
        const groups = groupResults(results, by, (amount, token) => format(amount, token, chainId))
        return `${state}\n${table(GROUPS, groups)}`
      },
    )
  })
}
