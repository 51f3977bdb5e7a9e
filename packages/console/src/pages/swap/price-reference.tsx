import { fillsOf, formatFillRate } from '../../components/charts/rate-chart.js'
import { wholeRate } from '../../data/orders/pair-fills.js'
import { tokenOf } from '../../data/tokens/tokens.js'
import { formatAmount, formatBps } from '../../format/amount.js'
import type { SwapTerms } from './what-happens.js'

/** The last fills are as good a reference as there is: nobody here knows a price of their own. */
const LAST = 10
/** A price so far below them is worth a second look. */
const FAR_BPS = -100
/** Less is no difference. */
const LEAST_BPS = 0.05

interface PriceReferenceProps extends Omit<Parameters<typeof fillsOf>[0], 'sell' | 'buy'> {
  readonly swap: SwapTerms
}

/** How much more or less the user gets than at the pair's last fill, or at the median of the last ones: at the one that was better for the user. */
export function PriceReference({ chainId, orders, swap }: PriceReferenceProps) {
  const { inputToken: sell, inputAmount, outputToken: buy, outputAmount } = swap
  const [sold, bought] = [sell, buy].map((token) => tokenOf(chainId, token))
  const decimals = bought?.decimals ?? 0
  const rates = fillsOf({ chainId, orders, sell, buy })
    .slice(-LAST)
    .map(({ rate }) => rate)
  const median = rates.toSorted((a, b) => a - b)[Math.floor(rates.length / 2)]
  const rate = wholeRate([inputAmount, sold?.decimals ?? 0], [outputAmount, decimals])
  if (median === undefined) return <p class="muted">No price is known to compare with</p>
  const best = Math.max(median, ...rates.slice(-1))
  const bps = (rate / best - 1) * 10_000
  const reference = (best * Number(inputAmount)) / 10 ** ((sold?.decimals ?? 0) - decimals)
  const difference = BigInt(Math.round(Math.abs(Number(outputAmount) - reference)))
  const amount = `${formatAmount(difference, decimals)} ${bought?.symbol} (${formatBps(bps)})`
  const words = Math.abs(bps) < LEAST_BPS ? 'The same as' : `${amount} ${bps < 0 ? 'less' : 'more'} than`
  return (
    <p class={bps < FAR_BPS ? 'warning' : 'muted'}>
      {words} at <span class="number">{formatFillRate(best, decimals)}</span>, the{' '}
      {best > median ? 'last fill here' : `median of the last ${rates.length} fills here`}
    </p>
  )
}
