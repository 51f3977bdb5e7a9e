import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { Empty, NoSolvers } from '../../components/notice.js'
import { Ranking } from '../../components/ranking.js'
import type { Offer } from '../../data/auction/auction.js'
import type { Auction } from '../../data/auction/auction-stream.js'
import { hrefHere } from '../../data/chains.js'
import { now } from '../../data/clock.js'

interface AuctionPanelProps {
  readonly chain: Chain
  readonly auction: Auction
  /** An offer beside the best one that the contract accepts too. */
  readonly valid: Offer | undefined
  /** The token of the side that solvers compete on. */
  readonly token: string
  /** Whether solvers are asked. */
  readonly isAsking: boolean
  /** Whether nobody can take the offers: there is no user. */
  readonly isForNobody: boolean
  /** Whether the chain has an active solver. */
  readonly hasSolvers: boolean
  /** The solver whose offer the button takes; undefined while the user must choose. */
  readonly chosen: string | undefined
  /** Takes another offer into the form; undefined while none can be chosen. */
  readonly onChoose: ((solver: string) => void) | undefined
}

/** The auction: improvements while it runs, then the ranking of all results. */
export function AuctionPanel(props: AuctionPanelProps) {
  const { chain, auction, valid, token, isForNobody, hasSolvers, chosen, onChoose } = props
  const round = props.isAsking && hasSolvers ? auction.round : undefined
  const { ended = round, takeable, nextAt } = auction
  return (
    <section class="panel auction" aria-labelledby="auction-title">
      <div class="panel-head">
        <h2 id="auction-title">Auction</h2>
        {round !== undefined && (
          <span class="auction-facts muted">
            {!isForNobody && <span>round {round.number}</span>}
            {nextAt !== undefined && (
              <span>asks again in {Math.max(0, Math.ceil((nextAt - now.value) / 1000))} s</span>
            )}
            <span class="auction-count">
              {round.asked === 0 ? 'asking' : `${round.answered} of ${round.asked} done`}
            </span>
            {round.quoteId !== '' && <a href={hrefHere('quote', round.quoteId)}>Record</a>}
          </span>
        )}
      </div>
      {round === undefined &&
        (hasSolvers ? <Empty title="Solvers compete here for your swap." /> : <NoSolvers />)}
      {/* The next round must not take the rows away while the user reads and chooses. */}
      {round !== undefined && ended !== undefined && ended.attempts.length > 0 && (
        <Ranking
          attempts={ended.attempts.map((each) =>
            each.solver === valid?.quote?.solver ? { ...each, isVerified: true } : each,
          )}
          chainId={chain.chainId}
          token={token}
          choice={
            onChoose && {
              solvers: takeable?.offers.flatMap(({ quote }) => quote?.solver ?? []) ?? [],
              chosen,
              onChoose,
            }
          }
        />
      )}
    </section>
  )
}
