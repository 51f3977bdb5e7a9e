import type { QuoteParams, QuoteRoundEnd, QuoteStreamMessage } from '@quote-aggregator/client'
import type { Instance } from '../called-instance.js'
import type { FormatAmount } from './amounts.js'
import type { Display } from './print-result.js'
import { formatTime, printable } from './printable.js'
import { formatOffer, renderAnswer } from './quote-view.js'

/**
 * The last message of a stream for a terminal: the state of the round, then its offers.
 * @param commandLine makes the command line of a command for the same instance and chain
 */
export function renderMessage(
  message: QuoteStreamMessage,
  params: Pick<QuoteParams, 'chainId' | 'depositMode'>,
  format: FormatAmount,
  commandLine: Instance['commandLine'],
  display: Display,
): string {
  const { quoteId } = message
  const best = bestOf(message)
  if (best === undefined) return `${describeRound(message)}\n`
  const alternatives = message.type === 'quote' ? [] : message.alternatives
  const left = Math.max(0, Math.floor(best.quote.depositDeadline - Date.now() / 1000))
  const answer = renderAnswer({ quoteId, best, alternatives }, params, format, commandLine, display)
  return `${describeRound(message)}, ${left} s left to deposit\n\n${answer}`
}

/** A message on one line, for a file or another program. */
export function toLine(message: QuoteStreamMessage, chainId: number, format: FormatAmount): string {
  const best = bestOf(message)
  const words = [formatTime(Date.now() / 1000), describeRound(message)]
  if (best !== undefined) {
    const { sells, buys } = formatOffer(best, chainId, format)
    words.push(`solver ${best.quote.solver}`, `sells ${sells}`, `buys ${buys}`, `order ${best.orderId}`)
    if (best.verified) words.push('verified')
  }
  return printable(words.join('  '))
}

function bestOf(message: QuoteStreamMessage) {
  return message.type === 'quote' ? message.offer : message.best
}

function describeRound(message: QuoteStreamMessage): string {
  const { round } = message
  if (message.type === 'quote') return `round ${round}: ${message.answered} of ${message.asked} answered`
  return `round ${round} done: ${message.best === undefined ? 'no offer, ' : ''}${describeCounts(message)}`
}

/** The results of a round. Solvers in none of the counts were cut off. */
function describeCounts({ asked, quoted, declined, invalid, failed, late }: QuoteRoundEnd): string {
  const counts = Object.entries({ quoted, declined, invalid, failed, late })
  const results = counts.filter(([, count]) => count > 0).map(([name, count]) => `${count} ${name}`)
  return [`${asked} asked`, ...results].join(', ')
}
