import type { Command } from 'commander'
import { systemClock } from '../../../protocol/src/clock.js'
import { DAY_MS } from '../../../protocol/src/values/time.js'
import type { FeeSum, PairSum, Statement, TokenSum } from '../../../solver/src/statement.js'
import { readTime, TIME_HELP } from '../arguments.js'
import { badInput } from '../command-failure.js'
import type { CliIo } from '../io.js'
import { type Display, printResult } from '../output/print-result.js'
import type { Column } from '../output/tables.js'

interface Options {
  readonly state: string
  readonly from?: number
  readonly to?: number
  readonly csv?: true
  readonly json?: true
}

const HELP = `
Amounts are in smallest units, and fees in wei. What a reorganisation may still remove is told with the rest.
Times are those of the chain when the solver has seen it.

  npx quote-aggregator books --state maker.db --from 2026-11-28 --to 2026-11-29
  npx quote-aggregator books --state maker.db --from 7d --csv > week.csv`

const PAIRS: readonly Column<PairSum>[] = [
  ['chain', ({ chainId }) => chainId],
  ['received', ({ inputToken }) => inputToken],
  ['paid', ({ outputToken }) => outputToken],
  ['trades', ({ trades }) => trades],
  ['amount received', ({ inputAmount }) => String(inputAmount), 'amount'],
  ['amount paid', ({ outputAmount }) => String(outputAmount), 'amount'],
  ['missed', ({ missed }) => missed],
  ['cost', ({ cost }) => String(cost), 'amount'],
  ['cancelled', ({ cancelled }) => cancelled],
]
const TOKENS: readonly Column<TokenSum>[] = [
  ['chain', ({ chainId }) => chainId],
  ['token', ({ token }) => token],
  ['received', ({ received }) => String(received), 'amount'],
  ['paid', ({ paid }) => String(paid), 'amount'],
  ['change', ({ received, paid }) => String(received - paid), 'amount'],
]
const FEES: readonly Column<FeeSum>[] = [
  ['chain', ({ chainId }) => chainId],
  ['purpose', ({ purpose }) => purpose.toLowerCase()],
  ['transactions', ({ transactions }) => transactions],
  ['reverted', ({ reverted }) => reverted],
  ['fees in wei', ({ gasCost }) => String(gasCost), 'amount'],
]
/** Of CSV. Each line has those that it has. */
const HEADER =
  'time,kind,chainId,orderId,quoteId,user,inputToken,inputAmount,outputToken,outputAmount,cost,transactionHash,nonce,purpose,isReverted,gasCost'

/** `books`: what a solver of the kit has traded, missed and paid for, by its state file (docs/decisions.md, D32). */
export function addBooks(program: Command, io: CliIo): void {
  program
    .command('books')
    .description("A solver's statement by its state file: trades, missed orders, cancelled quotes and fees.")
    .requiredOption('--state <path>', "the solver's stateFile; it may run")
    .option('--from <time>', `${TIME_HELP}; default: 1d`, readTime)
    .option('--to <time>', 'as --from; default: now', readTime)
    .option('--csv', 'a line for each trade, missed order, cancelled quote and transaction')
    .option('--json', 'JSON on standard output, for scripts')
    .addHelpText('after', HELP)
    .action((options: Options) => show(io, options))
}

async function show(io: CliIo, options: Options): Promise<void> {
  const { state, csv, to = systemClock.now() } = options
  const { from = to - DAY_MS } = options
  const { readStatement } = await import('../../../solver/src/statement.js')
  let statement: Statement
  try {
    statement = readStatement(state, Math.ceil(from / 1000), Math.ceil(to / 1000))
  } catch (error) {
    throw badInput(`--state ${state} cannot be read: ${(error as Error).message}`)
  }
  if (csv) io.stdout.write(toCsv(statement))
  else await printResult(io, options, statement, (display) => render(statement, display))
}

function render({ pairs, tokens, fees }: Statement, { table }: Display): string {
  if (pairs.length + fees.length === 0) return 'The books have nothing of this time.\n'
  return [table(PAIRS, pairs), table(TOKENS, tokens), table(FEES, fees)].join('\n')
}

/** RFC 4180, but for the line feeds. Whatever a program may take for a formula is no number. */
function toCsv({ trades, missed, cancelled, transactions }: Statement): string {
  // The gas of a trade is that of its transaction, and counts once.
  const trade = trades.map((line) => ({ ...line, gasCost: '' }))
  const kinds = { trade, missed, cancelled, transaction: transactions }
  const lines = Object.entries(kinds).flatMap(([kind, told]) =>
    told.map((line): Record<string, unknown> => ({ ...line, kind, time: toIso(line.time) })),
  )
  const inOrder = lines.sort((one, other) => String(one.time).localeCompare(String(other.time)))
  const cells = inOrder.map((line) =>
    HEADER.split(',').map((name) => toCell(line[name] ?? (name === 'transactionHash' ? line.hash : ''))),
  )
  return [HEADER, ...cells].map((row) => `${row}\n`).join('')
}

const toIso = (seconds: number) => new Date(seconds * 1000).toISOString()

/** An id of an instance may be any text. */
function toCell(value: unknown): string {
  const text = String(value ?? '')
  return /^[\w.:-]*$/.test(text) && !text.startsWith('-') ? text : `"'${text.replaceAll('"', '""')}"`
}
