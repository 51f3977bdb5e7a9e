import { fillsOf, formatFillRate } from '../../components/charts/rate-chart.js'
import { Bps } from '../../components/ranking.js'
import { type Round, surplusBps } from '../../data/auction/auction.js'
import { wholeRate } from '../../data/orders/pair-fills.js'
import { tokenOf } from '../../data/tokens/tokens.js'
import type { SwapTerms } from './what-happens.js'

/** The last fills are as good a reference as there is: nobody here knows a price of their own. */
const LAST = 10

interface PriceReferenceProps extends Omit<Parameters<typeof fillsOf>[0], 'sell' | 'buy'> {
  readonly round: Round | undefined
  /** The solver of the offer that is shown; undefined for a price. */
  readonly solver: string | undefined
  readonly swap: SwapTerms
}

/** How far a price is from the next offer, and from what the pair was last filled at. */
export function PriceReference({ chainId, orders, round, solver, swap }: PriceReferenceProps) {
  const { inputToken: sell, inputAmount, outputToken: buy, outputAmount } = swap
  const attempts = round?.attempts ?? []
  const own = attempts.find((attempt) => attempt.solver === solver)
  const surplus = surplusBps(attempts)
  const [sold, bought] = [sell, buy].map((token) => tokenOf(chainId, token)?.decimals ?? 0)
  const rates = fillsOf({ chainId, orders, sell, buy })
    .slice(-LAST)
    .map(({ rate }) => rate)
  const median = rates.toSorted((a, b) => a - b)[Math.floor(rates.length / 2)]
  const rate = wholeRate([inputAmount, sold ?? 0], [outputAmount, bought ?? 0])
  return (
    <p class="muted">
      {own !== undefined && own.rank !== 1 ? (
        <>
          This offer is <Bps bps={own.bps ?? 0} /> from the best one.
        </>
      ) : (
        surplus !== undefined && (
          <>
            The best offer is <Bps bps={surplus} /> better than the next one.
          </>
        )
      )}
      {median !== undefined && (
        <>
          {' '}
          Median of the last {rates.length} fills:{' '}
          <span class="number">{formatFillRate(median, bought ?? 0)}</span>, this is{' '}
          <Bps bps={(rate / median - 1) * 10_000} />.
        </>
      )}
    </p>
  )
}
