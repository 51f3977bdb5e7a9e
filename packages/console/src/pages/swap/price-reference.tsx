import { fillsOf, formatFillRate } from '../../components/charts/rate-chart.js'
import { Age } from '../../components/time.js'
import { wholeRate } from '../../data/orders/pair-fills.js'
import { tokenOf } from '../../data/tokens/tokens.js'
import type { SwapTerms } from './what-happens.js'

/** A price so far below the last fill is worth a second look. */
const FAR = 0.99

interface PriceReferenceProps extends Omit<Parameters<typeof fillsOf>[0], 'sell' | 'buy'> {
  readonly swap: SwapTerms
}

/** What is known beside the offers. The last fill is of the same solvers: it proves nothing. */
export function PriceReference({ chainId, orders, swap }: PriceReferenceProps) {
  const { inputToken: sell, inputAmount, outputToken: buy, outputAmount } = swap
  const [sold = 0, bought = 0] = [sell, buy].map((token) => tokenOf(chainId, token)?.decimals)
  const last = fillsOf({ chainId, orders, sell, buy }).at(-1)
  const isFar = last && wholeRate([inputAmount, sold], [outputAmount, bought]) < last.rate * FAR
  return (
    <p class={isFar ? 'warning' : 'muted'}>
      No outside price known.
      {last && (
        <>
          {' '}
          Last fill <span class="number">{formatFillRate(last.rate, bought)}</span>,{' '}
          <Age ms={last.at * 1000} />.
        </>
      )}
    </p>
  )
}
