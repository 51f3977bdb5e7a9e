import type {
  PriceAnswer,
  PriceParams,
  QuoteAnswer,
  QuoteParams,
  QuoteRecord,
  SignedQuote,
  SolverResult,
} from '@quote-aggregator/client'
import { payableAddress } from '../asked-offer.js'
import type { Instance } from '../called-instance.js'
import type { FormatAmount } from './amounts.js'
import type { Display } from './print-result.js'
import { formatBehind, formatTime, shellWord, toJson } from './printable.js'
import type { Column } from './tables.js'

/** The amounts of an offer, whose tokens the user knows. */
export function formatOffer({ quote }: SignedQuote, chainId: number, format: FormatAmount) {
  const { inputToken, inputAmount, outputToken, outputAmount, outputChainId } = quote
  return {
    sells: format(inputAmount, inputToken, chainId, 'bare'),
    buys: format(outputAmount, outputToken, outputChainId, 'bare'),
  }
}

/** The best price of a swap. */
export function renderPrice(
  { best, offers, asOf }: PriceAnswer,
  { chainId, inputToken, outputToken }: PriceParams,
  format: FormatAmount,
  { fields }: Display,
): string {
  return fields([
    ['solver', best.solver],
    ['name', best.name],
    ['sells', format(best.inputAmount, inputToken, chainId)],
    ['buys', format(best.outputAmount, outputToken, chainId)],
    ['offers', offers],
    ['as of', formatTime(asOf / 1000)],
  ])
}

/**
 * The offers as a table, best first, then how a user goes on with the best one.
 * @param commandLine makes the command line of a command for the same instance and chain
 */
export function renderAnswer(
  { best, quoteId = '', alternatives }: QuoteAnswer,
  { chainId, depositMode }: Pick<QuoteParams, 'chainId' | 'depositMode'>,
  format: FormatAmount,
  commandLine: Instance['commandLine'],
  { table, fields }: Display,
): string {
  const { quote } = best
  const offers = [best, ...alternatives]
  const competing = best.quote.orderType === 'EXACT_INPUT' ? 'outputAmount' : 'inputAmount'
  const marks: Column<SignedQuote> = ['verified', ({ verified }) => verified && 'yes']
  const columns: Column<SignedQuote>[] = [
    ['#', (_, index) => index + 1],
    ['solver', ({ quote }) => quote.solver],
    ['sells', (offer) => formatOffer(offer, chainId, format).sells, 'amount'],
    ['buys', (offer) => formatOffer(offer, chainId, format).buys, 'amount'],
    [
      'to best',
      ({ quote }, index) => (index === 0 ? '' : formatBehind(quote[competing], best.quote[competing])),
      'amount',
    ],
    ...(offers.some(({ verified }) => verified) ? [marks] : []),
  ]
  const next = fields([
    ['quote id', quoteId],
    ['order id', best.orderId],
    ['sells', `${quote.inputAmount} of the smallest unit of ${quote.inputToken}`],
    ['buys', `${quote.outputAmount} of the smallest unit of ${quote.outputToken}`],
    ...(depositMode === 'ADDRESS' ? addressRows(best) : []),
    ['deposit by', formatTime(quote.depositDeadline)],
    ['filled by', formatTime(best.quote.fillDeadline)],
    ['follow', commandLine(`order ${best.orderId} --watch`)],
    ['why', commandLine(`quote --why ${shellWord(quoteId)}`)],
  ])
  return `${table(columns, offers)}\nThe best one:\n${next}`
}

/** Nothing comes back from an address without the signed quote, which nobody else keeps. */
function addressRows(best: SignedQuote): [name: string, text: string][] {
  const { quote, signature } = best
  return [
    ['deposit to', payableAddress(best)],
    ['', 'the instance says so: nobody has checked the address'],
    ['keep', `this, without which nothing comes back: ${toJson({ quote, signature })}`],
  ]
}

/** A record as an instance answers it, or as the operator has it. */
type ShownRecord = Omit<QuoteRecord, 'solvers'> & {
  /** The label of the caller's API key, for the operator. */
  readonly key?: string | undefined
  readonly solvers: readonly ShownResult[]
}
type ShownResult = Pick<SolverResult, 'solver' | 'outcome' | 'explanation'> & Partial<SolverResult>

/** Why a solver was asked, which only itself and the operator see. */
const SELECTION: readonly Column<ShownResult>[] = [
  ['chosen by', ({ chosenBy }) => chosenBy],
  ['gap', ({ gapBps }) => gapBps],
]

/** The record of a quote: its parameters, and a line for each solver that the reader may see. */
export function renderRecord(record: ShownRecord, format: FormatAmount, { table, fields }: Display): string {
  const { request, chainId, bestAmount } = record
  const { inputToken, outputToken, amount, destinationChainId, depositDeadline } = request
  const isExactInput = request.orderType === 'EXACT_INPUT'
  const sold = (units: bigint | string) => format(units, inputToken, chainId)
  const bought = (units: bigint | string) => format(units, outputToken, destinationChainId)
  // A solver sees the best amount later.
  const later = record.outcome ? undefined : `shown after ${formatTime(depositDeadline)}, if there is one`
  const competing = isExactInput ? (['buys', bought] as const) : (['sells', sold] as const)
  const head = fields([
    ['quote id', record.quoteId],
    ['outcome', record.outcome && `${record.outcome} after ${record.durationMs} ms`],
    ['kind', record.kind],
    ['asked at', formatTime(record.requestedAt / 1000)],
    ['sells', isExactInput ? sold(amount) : inputToken],
    ['buys', isExactInput ? outputToken : bought(amount)],
    ['user', request.userAddress],
    ['key', record.key],
    ['chains', `${chainId} to ${destinationChainId}`],
    ['deposit', `${request.depositMode}, by ${formatTime(depositDeadline)}`],
    ['filled by', formatTime(request.fillDeadline)],
    ['best offer', bestAmount === undefined ? later : `${competing[0]} ${competing[1](bestAmount)}`],
  ])
  const { solvers } = record
  const columns: Column<ShownResult>[] = [
    ['#', ({ rank }) => rank],
    ['solver', ({ solver }) => solver],
    ['outcome', outcomeOf],
    ['ms', ({ durationMs }) => durationMs],
    ...(solvers.some(({ chosenBy }) => chosenBy) ? SELECTION : []),
    ['sells', ({ inputAmount }) => inputAmount && format(inputAmount, inputToken, chainId, 'bare'), 'amount'],
    [
      'buys',
      ({ outputAmount }) => outputAmount && format(outputAmount, outputToken, destinationChainId, 'bare'),
      'amount',
    ],
    ['explanation', ({ explanation }) => explanation],
  ]
  return `${head}\n${solvers.length === 0 ? 'No solver was asked.\n' : table(columns, solvers)}`
}

function outcomeOf({ outcome, reason, declineCode, httpStatus, verified }: ShownResult): string {
  const detail = reason ?? declineCode ?? httpStatus ?? (verified ? 'verified' : undefined)
  return detail === undefined ? outcome : `${outcome} ${detail}`
}
