import type { QuoteRoundEnd, QuoteStreamMessage } from '@quote-aggregator/client'
import type { FormatAmount } from './amounts.js'
import { formatTime, printable } from './printable.js'
import { formatOffer } from './quote-view.js'

/** A message on one line. */
export function toLine(message: QuoteStreamMessage, chainId: number, format: FormatAmount): string {
  const best = message.type === 'quote' ? message.offer : message.best
  const words = [formatTime(Date.now() / 1000), describeRound(message)]
  if (best !== undefined) {
    const { sells, buys } = formatOffer(best, chainId, format)
    words.push(`solver ${best.quote.solver}`, `sells ${sells}`, `buys ${buys}`, `order ${best.orderId}`)
    if (best.verified) words.push('verified')
  }
  return printable(words.join('  '))
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
