import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { AuctionChart } from '../../components/charts/auction-chart.js'
import { Empty, NoSolvers } from '../../components/notice.js'
import { Bps, Ranking } from '../../components/ranking.js'
import { Age } from '../../components/time.js'
import { type Offer, surplusBps } from '../../data/auction/auction.js'
import type { Auction } from '../../data/auction/auction-stream.js'
import { hrefHere } from '../../data/chains.js'

interface AuctionPanelProps {
  readonly chain: Chain
  readonly auction: Auction
  /** The token of the side that solvers compete on. */
  readonly token: string
  /** Whether solvers are asked. */
  readonly isAsking: boolean
  /** Whether nobody can take the offers: there is no user. */
  readonly isForNobody: boolean
  /** Whether the chain has an active solver. */
  readonly hasSolvers: boolean
  /** The offer that the form shows. */
  readonly offer: Offer | undefined
  /** Takes another offer into the form; undefined while none can be chosen. */
  readonly onChoose: ((solver: string) => void) | undefined
}

/** The auction: improvements while it runs, then all results with the ranking. */
export function AuctionPanel(props: AuctionPanelProps) {
  const { chain, auction, isAsking, isForNobody, hasSolvers } = props
  const { round } = auction
  const isShown = isAsking && hasSolvers && round !== undefined
  return (
    <section class="panel auction" aria-labelledby="auction-title">
      <div class="panel-head">
        <h2 id="auction-title">Auction</h2>
        {isShown && (
          <span class="auction-facts muted">
            {isForNobody ? <Age ms={round.startedAt} /> : <span>round {round.number}</span>}
            <span class="auction-count">
              {round.asked === 0 ? 'asking' : `${round.answered} of ${round.asked} answered`}
            </span>
            {round.quoteId !== '' && <a href={hrefHere('quote', round.quoteId)}>Record</a>}
          </span>
        )}
      </div>
      {isShown ? (
        <Rounds {...props} />
      ) : (
        <>
          <AuctionChart attempts={[]} deadlineMs={chain.quoteTimeoutMs} />
          {hasSolvers ? (
            <Empty title="Solvers compete here for your swap.">
              Choose two tokens and an amount to see the auction live.
            </Empty>
          ) : (
            <NoSolvers />
          )}
        </>
      )}
    </section>
  )
}

function Rounds({ chain, auction, token, offer, onChoose }: AuctionPanelProps) {
  const { round, ended, takeable } = auction
  if (round === undefined) return null
  const surplus = surplusBps(round.attempts)
  // The next round must not take the rows away while the user reads and chooses.
  const { attempts } = ended ?? round
  return (
    <>
      <AuctionChart attempts={round.attempts} deadlineMs={chain.quoteTimeoutMs} />
      <p class="chart-note">
        {round.offers === undefined ? (
          'Solvers are answering. The line is the best offer so far; the ranking follows.'
        ) : surplus !== undefined ? (
          <>
            The best offer is <Bps bps={surplus} /> better than the next one.
          </>
        ) : (
          `${round.offers === 0 ? 'No offer' : 'One valid offer'} in this round.`
        )}
      </p>
      {attempts.length > 0 && (
        <Ranking
          attempts={attempts}
          chainId={chain.chainId}
          token={token}
          choice={
            onChoose && {
              solvers: takeable?.offers.flatMap(({ quote }) => quote?.solver ?? []) ?? [],
              chosen: offer?.quote?.solver,
              onChoose,
            }
          }
        />
      )}
    </>
  )
}
