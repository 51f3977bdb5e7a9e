import type { QuoteRoundEnd, QuoteStreamMessage } from '@quote-aggregator/client'
import type { FormatAmount } from './listed-tokens.js'
import type { Display } from './print-result.js'
import { formatTime, printable } from './printable.js'
import { renderAnswer } from './quote-view.js'

/**
 * The last message of a stream for a terminal: the state of the round, then its offers.
 * @param now Unix time in milliseconds
 * @param commandLine makes the command line of a command for the same instance and chain
 */
export function renderMessage(
  message: QuoteStreamMessage,
  now: number,
  format: FormatAmount,
  commandLine: (command: string) => string,
  display: Display,
): string {
  const { quoteId } = message
  const best = message.type === 'quote' ? message.offer : message.best
  if (best === undefined) return `${describeRound(message)}\n`
  const alternatives = message.type === 'quote' ? [] : message.alternatives
  const left = Math.max(0, Math.floor(best.quote.depositDeadline - now / 1000))
  const head = `${describeRound(message)}, ${left} s left to deposit`
  return `${head}\n\n${renderAnswer({ quoteId, best, alternatives }, format, commandLine, display)}`
}

/** A message on one line, for a file or another program. @param now Unix time in milliseconds */
export function toLine(message: QuoteStreamMessage, now: number, format: FormatAmount): string {
  const best = message.type === 'quote' ? message.offer : message.best
  const offer =
    best === undefined
      ? []
      : [
          `solver ${best.quote.solver}`,
          `sells ${format('sells', best.quote.inputAmount)}`,
          `buys ${format('buys', best.quote.outputAmount)}`,
          `order ${best.orderId}`,
          ...(best.verified ? ['verified'] : []),
        ]
  return printable([formatTime(now / 1000), describeRound(message), ...offer].join('  '))
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
