import { fillsOf, formatFillRate } from '../../components/charts/rate-chart.js'
import type { SwapAmounts } from '../../components/rate.js'
import { wholeRate } from '../../data/orders/pair-fills.js'
import { tokenOf } from '../../data/tokens/tokens.js'
import { formatBps } from '../../format/amount.js'
import { formatClock } from '../../format/time.js'

/** A price so far below the last fill is worth a second look. */
const FAR = 0.99
const BPS = 10_000

interface PriceReferenceProps extends Omit<Parameters<typeof fillsOf>[0], 'sell' | 'buy'> {
  readonly swap: SwapAmounts
}

/** What is known beside the offers. The last fill is of the same solvers: it proves nothing. */
export function PriceReference({ chainId, orders, swap }: PriceReferenceProps) {
  const { inputToken: sell = '', inputAmount, outputToken: buy = '', outputAmount } = swap
  const [sold = 0, bought = 0] = [sell, buy].map((token) => tokenOf(chainId, token)?.decimals)
  const last = fillsOf({ chainId, orders, sell, buy }).at(-1)
  const rate = wholeRate([inputAmount, sold], [outputAmount, bought])
  return (
    <p class={last && rate < last.rate * FAR ? 'warning' : 'muted'}>
      No outside price known.
      {last && (
        <>
          {' '}
          Last fill here {formatFillRate(last.rate, bought)} at {formatClock(last.at * 1000)}; this price{' '}
          {formatBps((rate / last.rate - 1) * BPS)}.
        </>
      )}
    </p>
  )
}
