import { fillsOf, formatFillRate } from '../../components/charts/rate-chart.js'
import { wholeRate } from '../../data/orders/pair-fills.js'
import { tokenOf } from '../../data/tokens/tokens.js'
import { formatBps } from '../../format/amount.js'
import type { SwapTerms } from './what-happens.js'

/** The last fills are as good a reference as there is: nobody here knows a price of their own. */
const LAST = 10
/** A price so far below them is worth a second look. */
const FAR_BPS = -100

interface PriceReferenceProps extends Omit<Parameters<typeof fillsOf>[0], 'sell' | 'buy'> {
  readonly swap: SwapTerms
}

/** How far a price is from what the pair was last filled at: from the last fill or from the median of the last ones, whichever was better for the user. */
export function PriceReference({ chainId, orders, swap }: PriceReferenceProps) {
  const { inputToken: sell, inputAmount, outputToken: buy, outputAmount } = swap
  const [sold, bought] = [sell, buy].map((token) => tokenOf(chainId, token)?.decimals ?? 0)
  const rates = fillsOf({ chainId, orders, sell, buy })
    .slice(-LAST)
    .map(({ rate }) => rate)
  const median = rates.toSorted((a, b) => a - b)[Math.floor(rates.length / 2)]
  const rate = wholeRate([inputAmount, sold ?? 0], [outputAmount, bought ?? 0])
  if (median === undefined) return <p class="muted">No price is known to compare with</p>
  const best = Math.max(median, ...rates.slice(-1))
  const bps = (rate / best - 1) * 10_000
  return (
    <p class={bps < FAR_BPS ? 'warning' : 'muted'}>
      {formatBps(bps)} from the {best > median ? 'last fill' : `median of the last ${rates.length} fills`},{' '}
      <span class="number">{formatFillRate(best, bought ?? 0)}</span>
    </p>
  )
}
