import { useEffect, useState } from 'preact/hooks'
import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { AuctionChart } from '../../components/charts/auction-chart.js'
import { Id } from '../../components/id.js'
import { Empty } from '../../components/notice.js'
import { Bps, Ranking } from '../../components/ranking.js'
import { Age } from '../../components/time.js'
import { surplusBps } from '../../data/auction/auction.js'
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
}

/** The auction: improvements while it runs, then all results with the ranking. */
export function AuctionPanel(props: AuctionPanelProps) {
  const { chain, auction, token, isAsking, isForNobody, hasSolvers } = props
  const { round } = auction
  const isShown = isAsking && hasSolvers && round !== undefined
  return (
    <section class="panel auction" aria-labelledby="auction-title">
      <div class="panel-head">
        <h2 id="auction-title">Auction</h2>
        {isShown && (
          <span class="auction-facts muted">
            {round.quoteId !== '' && (
              <Id text={round.quoteId} href={hrefHere('quote', round.quoteId)} label="quote id" />
            )}
            {isForNobody ? <Age ms={round.startedAt} /> : <span>round {round.number}</span>}
            <span class="auction-count">
              {round.asked === 0 ? 'asking' : `${round.answered} of ${round.asked} answered`}
            </span>
          </span>
        )}
      </div>
      {isShown ? (
        <Rounds chain={chain} auction={auction} token={token} />
      ) : (
        <>
          <AuctionChart attempts={[]} deadlineMs={chain.quoteTimeoutMs} />
          <Empty title="Solvers compete here for your swap.">
            {hasSolvers
              ? 'Choose two tokens and an amount to see the auction live.'
              : 'No solver is active on this chain.'}
          </Empty>
        </>
      )}
      {isShown && isForNobody && round.offers !== 0 && (
        <p class="muted">Connect a wallet, or type your address, to get offers that you can take.</p>
      )}
    </section>
  )
}

function Rounds({ chain, auction, token }: Pick<AuctionPanelProps, 'chain' | 'auction' | 'token'>) {
  const { round } = auction
  const isRunning = round !== undefined && round.offers === undefined
  const elapsedMs = useElapsed(round?.startedAt ?? 0, isRunning)
  if (round === undefined) return null
  const surplus = surplusBps(round.attempts)
  return (
    <>
      <AuctionChart
        attempts={round.attempts}
        deadlineMs={chain.quoteTimeoutMs}
        elapsedMs={isRunning ? Math.min(chain.quoteTimeoutMs, elapsedMs) : undefined}
      />
      <p class="chart-note">
        {isRunning ? (
          'The line is the best offer so far.'
        ) : surplus !== undefined ? (
          <>
            The best offer is <Bps bps={surplus} /> better than the next one.
          </>
        ) : round.offers === 0 ? (
          'No offer in this round.'
        ) : (
          'There is one valid offer.'
        )}
      </p>
      {round.attempts.length > 0 && (
        <Ranking attempts={round.attempts} chainId={chain.chainId} token={token} />
      )}
    </>
  )
}

/** Time since a start, in milliseconds, in each frame while it runs. */
function useElapsed(startedAt: number, isRunning: boolean): number {
  const [elapsedMs, setElapsed] = useState(0)
  useEffect(() => {
    if (!isRunning) return
    let frame = 0
    const tick = () => {
      setElapsed(Math.max(0, Date.now() - startedAt))
      frame = requestAnimationFrame(tick)
    }
    tick()
    return () => cancelAnimationFrame(frame)
  }, [startedAt, isRunning])
  return elapsedMs
}
