import { type Command, InvalidArgumentError } from 'commander'
import {
  readAddress,
  readChainId,
  readInteger,
  readOneOf,
  readTime,
  TIME_HELP,
} from '../../../packages/cli/src/arguments.js'
import type { CliIo } from '../../../packages/cli/src/io.js'
import { printResult } from '../../../packages/cli/src/output/print-result.js'
import { formatTime } from '../../../packages/cli/src/output/printable.js'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import { explain } from '../../../packages/protocol/src/quotes/explain.js'
import type { QuoteRecord } from '../../../packages/protocol/src/quotes/quote-record.js'
import type { RecordedResult } from '../../../packages/protocol/src/solvers/solver-result.js'
import { type Address, parseAddress } from '../../../packages/protocol/src/values/hex.js'
import { DAY_MS } from '../../../packages/protocol/src/values/time.js'
import { ownDatabaseHelp, withOperatorStores } from '../own-database.js'

interface Options {
  readonly chain?: number
  readonly user?: Address
  readonly pair?: readonly [input: Address, output: Address]
  readonly from?: number
  readonly to?: number
  readonly outcome?: QuoteRecord['outcome']
  readonly limit: number
  readonly json?: boolean
}

const OUTCOMES = ['quoted', 'no_quotes', 'cancelled'] as const
const USUAL_LIMIT = 20
const MAX_LIMIT = 10_000
const NOTES =
  'Records say whom each user asked for what: they are personal data. A round that never began, and a request that was refused, has no record, only a line in the log.'

/** `records`: how the quotes of the operator's own instance came about (docs/decisions.md, D15). */
export function addRecords(program: Command, io: CliIo): void {
  program
    .command('records')
    .description(
      'Finds the records of quotes of your own instance, the newest first. One that is found alone is shown whole.',
    )
    .option('--chain <id>', 'chain of the deposit', readChainId)
    .option('--user <address>', "the user's wallet", readAddress)
    .option('--pair <sold/bought>', 'addresses of both tokens', readPair)
    .option('--from <time>', `${TIME_HELP}; default: 1d`, readTime)
    .option('--to <time>', 'as --from; default: now', readTime)
    .option('--outcome <outcome>', `one of ${OUTCOMES.join(', ')}`, readOneOf(OUTCOMES))
    .option('--limit <number>', 'most records', readInteger(1, MAX_LIMIT), USUAL_LIMIT)
    .option('--json', 'JSON on standard output, for scripts')
    .addHelpText(
      'after',
      ownDatabaseHelp(
        NOTES,
        'records --user 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 --from 12:00 --to 12:10',
        'records --outcome no_quotes --from 2h',
      ),
    )
    .action((options: Options) => show(io, options))
}

async function show(io: CliIo, options: Options): Promise<void> {
  const { chain: chainId, user, pair: [inputToken, outputToken] = [], outcome, limit } = options
  const { from = systemClock.now() - DAY_MS, to = systemClock.now() } = options
  const keys = { chainId, user, inputToken, outputToken, outcome }
  const texts = await withOperatorStores(io, (stores) => stores.searchRecords({ ...keys, from, to, limit }))
  const records = texts.map((text): QuoteRecord => JSON.parse(text))
  await printResult(io, options, records, ({ table, fields }) => {
    const [first] = records
    if (first === undefined) return 'No record is found.\n'
    if (records.length === 1) return `${fields(describe(first))}\n${table(SOLVERS, toRows(first))}`
    const more = records.length === limit ? `\nThere may be more than ${limit}: see --limit.\n` : ''
    return `${table(RECORDS, records)}${more}`
  })
}

const RECORDS: readonly (readonly [string, (record: QuoteRecord) => string | number])[] = [
  ['time', ({ requestedAt }) => formatTime(requestedAt / 1000)],
  ['chain', ({ chainId }) => chainId],
  ['outcome', ({ outcome }) => outcome],
  ['ms', ({ durationMs }) => durationMs],
  ['solvers', ({ solvers }) => countByOutcome(solvers)],
  ['user', ({ request }) => request.user],
  ['sold', ({ request }) => request.inputToken],
  ['bought', ({ request }) => request.outputToken],
  ['amount', ({ request }) => `${request.amount} ${sideOf(request)}`],
  ['key', ({ key = '' }) => key],
  ['quote id', ({ quoteId }) => quoteId],
]

/** A record as names and values. Amounts are in the token's smallest unit. */
function describe(record: QuoteRecord) {
  const { request } = record
  return [
    ...RECORDS.map(([name, read]) => [name, read(record)] as const),
    ['kind', record.kind],
    ['to chain', request.destinationChainId],
    ['deposit', `${request.depositMode}, by ${formatTime(request.depositDeadline)}`],
  ] as const
}

const SOLVERS: readonly (readonly [string, (row: RecordedResult & { readonly why: string }) => Cell])[] = [
  ['#', ({ rank }) => rank],
  ['solver', ({ solver }) => solver],
  [
    'outcome',
    ({ outcome, reason, declineCode, httpStatus }) =>
      [outcome, reason ?? declineCode ?? httpStatus].join(' ').trim(),
  ],
  ['ms', ({ durationMs }) => durationMs],
  ['chosen by', ({ chosenBy }) => chosenBy],
  ['gap', ({ gapBps }) => gapBps],
  ['sells', ({ inputAmount }) => inputAmount],
  ['buys', ({ outputAmount }) => outputAmount],
  ['explanation', ({ why }) => why],
]

type Cell = string | number | undefined

function toRows({ request, solvers }: QuoteRecord) {
  const best = solvers.find(({ rank }) => rank === 1)
  const bestAmount = request.orderType === 'EXACT_INPUT' ? best?.outputAmount : best?.inputAmount
  return solvers.map((result) => ({ ...result, why: explain(result, { request, bestAmount }) }))
}

function sideOf({ orderType }: QuoteRecord['request']): string {
  return orderType === 'EXACT_INPUT' ? 'sold' : 'bought'
}

/** As `2 quoted, 1 late`. */
function countByOutcome(solvers: readonly RecordedResult[]): string {
  const counts = new Map<string, number>()
  for (const { outcome } of solvers) counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
  return [...counts].map(([outcome, count]) => `${count} ${outcome}`).join(', ') || 'none asked'
}

function readPair(text: string): readonly [Address, Address] {
  const [input, output, ...others] = text.split('/').map((token) => parseAddress(token))
  if (input === undefined || output === undefined || others.length > 0)
    throw new InvalidArgumentError('It must be two addresses with a slash between: 0x…/0x….')
  return [input, output]
}
