import type { QuoteAnswer, QuoteRecord, SolverResult } from '@quote-aggregator/client'
import type { FormatAmount } from './listed-tokens.js'
import type { Display } from './print-result.js'
import { formatBehind, formatTime, shellWord } from './printable.js'

const AMOUNTS = [
  { title: 'sells', align: 'right' },
  { title: 'buys', align: 'right' },
] as const

/**
 * The offers as a table, best first, then how a user goes on with the best one.
 * @param commandLine makes the command line of a command for the same instance and chain
 */
export function renderAnswer(
  answer: QuoteAnswer,
  format: FormatAmount,
  commandLine: (command: string) => string,
  { table, fields }: Display,
): string {
  const { best, quoteId = '' } = answer
  const offers = [best, ...answer.alternatives]
  const isExactInput = best.quote.orderType === 'EXACT_INPUT'
  const competing = isExactInput ? 'outputAmount' : 'inputAmount'
  const hasMarks = offers.some(({ verified }) => verified)
  const rows = offers.map(({ quote, depositAddress, verified }, index) => [
    String(index + 1),
    quote.solver,
    format('sells', quote.inputAmount),
    format('buys', quote.outputAmount),
    index === 0 ? '' : formatBehind(quote[competing], best.quote[competing]),
    ...(hasMarks ? [verified ? 'yes' : ''] : []),
    depositAddress,
  ])
  const columns = [
    { title: '#', align: 'right' },
    { title: 'solver' },
    ...AMOUNTS,
    { title: 'to best', align: 'right' },
    ...(hasMarks ? [{ title: 'verified' }] : []),
    { title: 'deposit address', isMinor: true },
  ] as const
  const next = fields([
    ['quote id', quoteId],
    ['order id', best.orderId],
    ['deposit to', best.depositAddress],
    ['deposit by', formatTime(best.quote.depositDeadline)],
    ['filled by', formatTime(best.quote.fillDeadline)],
    ['follow', commandLine(`order ${best.orderId} --watch`), 'command'],
    ['why', commandLine(`quote --why ${shellWord(quoteId)}`), 'command'],
  ])
  return `${table(columns, rows)}\nThe best one:\n${next}`
}

/** The record of a quote: its parameters, and a line for each solver that the reader may see. */
export function renderRecord(record: QuoteRecord, { table, fields }: Display): string {
  const { request } = record
  const head = fields([
    ['quote id', record.quoteId],
    ['outcome', record.outcome && `${record.outcome} after ${record.durationMs} ms`],
    ['kind', record.kind],
    ['asked at', formatTime(record.requestedAt / 1000)],
    ['sells', `${request.orderType === 'EXACT_INPUT' ? `${request.amount} of ` : ''}${request.inputToken}`],
    ['buys', `${request.orderType === 'EXACT_OUTPUT' ? `${request.amount} of ` : ''}${request.outputToken}`],
    ['user', request.user],
    ['chains', `${record.chainId} to ${request.destinationChainId}`],
    ['deposit', `${request.depositMode}, by ${formatTime(request.depositDeadline)}`],
    ['filled by', formatTime(request.fillDeadline)],
    ['best offer', renderBest(record)],
  ])
  if (record.solvers.length === 0) return `${head}\nNo solver was asked.\n`
  const columns = [
    { title: '#', align: 'right' },
    { title: 'solver' },
    { title: 'outcome' },
    { title: 'ms', align: 'right' },
    ...AMOUNTS,
    { title: 'explanation' },
  ] as const
  return `${head}\n${table(columns, record.solvers.map(toRow))}`
}

/** The best amount of the side that solvers compete on, or the time from which a solver may see it. */
function renderBest({ request, bestAmount, outcome }: QuoteRecord): string | undefined {
  const side = request.orderType === 'EXACT_INPUT' ? 'buys' : 'sells'
  if (bestAmount !== undefined) return `${side} ${bestAmount}`
  return outcome === undefined
    ? `shown after ${formatTime(request.depositDeadline)}, if there is one`
    : undefined
}

function toRow(result: SolverResult): string[] {
  const { solver, outcome, rank, durationMs, inputAmount, outputAmount } = result
  const detail =
    result.reason ?? result.declineCode ?? result.httpStatus ?? (result.verified ? 'verified' : undefined)
  return [
    rank === undefined ? '' : String(rank),
    solver,
    detail === undefined ? outcome : `${outcome} ${detail}`,
    durationMs === undefined ? '' : String(durationMs),
    inputAmount ?? '',
    outputAmount ?? '',
    result.explanation,
  ]
}
