import { fillsOf, formatFillRate } from '../../components/charts/rate-chart.js'
import type { SwapAmounts } from '../../components/rate.js'
import { wholeRate } from '../../data/orders/pair-fills.js'
import { tokenOf } from '../../data/tokens/tokens.js'
import { formatBps } from '../../format/amount.js'
import { formatClock } from '../../format/time.js'

/** A price so far below the last fill is worth a second look. */
const FAR = -100
const BPS = 10_000

interface PriceReferenceProps extends Omit<Parameters<typeof fillsOf>[0], 'sell' | 'buy'> {
  readonly swap: SwapAmounts
  /** Only earlier fills count. Unix time in seconds. */
  readonly until?: number
}

/** What is known beside the offers. The last fill is of the same solvers: it proves nothing. */
export function PriceReference(props: PriceReferenceProps) {
  const last = lastFill(props)
  return (
    <p class={last && last.bps < FAR ? 'warning' : 'muted'}>
      No outside price known.
      {last
        ? ` Last fill here ${last.words}; this price ${formatBps(last.bps)}.`
        : !props.orders && ' Last fill here: …'}
    </p>
  )
}

/** The last fill of a pair among orders in words, with its time in Unix seconds, and how far a price is from it. */
export function lastFill({ chainId, orders, swap, until = Number.POSITIVE_INFINITY }: PriceReferenceProps) {
  const { inputToken: sell = '', inputAmount, outputToken: buy = '', outputAmount } = swap
  const [sold = 0, bought = 0] = [sell, buy].map((token) => tokenOf(chainId, token)?.decimals)
  const format = (value: number) => formatFillRate(value, bought)
  const last = fillsOf({ chainId, orders, sell, buy }).findLast(({ at }) => at < until)
  const rate = wholeRate([inputAmount, sold], [outputAmount, bought])
  if (last === undefined) return undefined
  const size = `${format(last.volume)} ${tokenOf(chainId, buy)?.symbol}`
  const words = `${format(last.rate)} at ${formatClock(last.at * 1000)}, of about ${size}`
  return { at: last.at, words, bps: (rate / last.rate - 1) * BPS }
}
