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
import { inUnits } from '../../../packages/cli/src/output/amounts.js'
import { printResult } from '../../../packages/cli/src/output/print-result.js'
import { countWords, formatTime } from '../../../packages/cli/src/output/printable.js'
import { renderRecord } from '../../../packages/cli/src/output/quote-view.js'
import type { Column } from '../../../packages/cli/src/output/tables.js'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import { explain } from '../../../packages/protocol/src/quotes/explain.js'
import type { QuoteRecord } from '../../../packages/protocol/src/quotes/quote-record.js'
import { type Address, parseAddress } from '../../../packages/protocol/src/values/hex.js'
import { DAY_MS } from '../../../packages/protocol/src/values/time.js'
import { viewForCaller } from '../../auction/records/record-view.js'
import { takesOwnDatabase, withOperatorStores } from '../own-database.js'

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
  const command = program
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
    .action((options: Options) => show(io, options))
  takesOwnDatabase(command, NOTES, 'records --outcome no_quotes --from 2h')
}

async function show(io: CliIo, options: Options): Promise<void> {
  const { chain: chainId, user, pair: [inputToken, outputToken] = [], outcome, limit } = options
  const { from = systemClock.now() - DAY_MS, to = systemClock.now() } = options
  const keys = { chainId, user, inputToken, outputToken, outcome }
  const texts = await withOperatorStores(io, (stores) => stores.searchRecords({ ...keys, from, to, limit }))
  const records = texts.map((text): QuoteRecord => JSON.parse(text))
  await printResult(io, options, records, (display) => {
    const [first] = records
    if (first === undefined) return 'No record is found.\n'
    // The operator's own database has no list of tokens.
    if (records.length === 1) return renderRecord(explained(first), inUnits, display)
    const more = records.length === limit ? `\nThere may be more than ${limit}: see --limit.\n` : ''
    return `${display.table(RECORDS, records)}${more}`
  })
}

const RECORDS: readonly Column<QuoteRecord>[] = [
  ['time', ({ requestedAt }) => formatTime(requestedAt / 1000)],
  ['chain', ({ chainId }) => chainId],
  ['outcome', ({ outcome }) => outcome],
  ['ms', ({ durationMs }) => durationMs],
  ['solvers', ({ solvers }) => countWords(solvers.map(({ outcome }) => outcome)) || 'none asked'],
  ['user', ({ request }) => request.user],
  ['sold', ({ request }) => request.inputToken],
  ['bought', ({ request }) => request.outputToken],
  [
    'amount',
    ({ request: { amount, orderType } }) => `${amount} ${orderType === 'EXACT_INPUT' ? 'sold' : 'bought'}`,
  ],
  ['key', ({ key }) => key],
  ['quote id', ({ quoteId }) => quoteId],
]

/** A record as an instance answers it to its caller. */
function explained(record: QuoteRecord): Parameters<typeof renderRecord>[0] {
  const { request, solvers } = record
  const { bestAmount } = viewForCaller(record)
  return {
    ...record,
    // To read what it leaves out gives undefined too.
    request: {
      ...(request as Required<typeof request>),
      userAddress: request.user,
      amount: BigInt(request.amount),
    },
    bestAmount: bestAmount === undefined ? undefined : BigInt(bestAmount),
    solvers: solvers.map((result) => ({ ...result, explanation: explain(result, { request, bestAmount }) })),
  }
}

function readPair(text: string): readonly [Address, Address] {
  const [input, output, ...others] = text.split('/').map((token) => parseAddress(token))
  if (input === undefined || output === undefined || others.length > 0)
    throw new InvalidArgumentError('It must be two addresses with a slash between: 0x…/0x….')
  return [input, output]
}
