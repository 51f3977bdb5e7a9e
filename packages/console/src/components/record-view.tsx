import type { Chain } from '../../../../gen/aggregator/v1/chain_pb.js'
import type { GetQuoteRecordResponse } from '../../../../gen/aggregator/v1/quote_pb.js'
import { isExactInput, readAttempts, surplusBps } from '../data/auction/auction.js'
import { hrefHere } from '../data/chains.js'
import { AuctionChart } from './charts/auction-chart.js'
import { Fact } from './facts.js'
import { Bps, Ranking } from './ranking.js'
import { Term } from './term.js'
import { Amount } from './token-amount.js'

interface RecordViewProps {
  readonly chain: Chain
  readonly record: GetQuoteRecordResponse
}

/** A record of a quote: the auction's chart, and the ranking of all solvers. */
export function RecordView({ chain, record }: RecordViewProps) {
  const attempts = readAttempts(record)
  const token = (isExactInput(record) ? record.request?.outputToken : record.request?.inputToken) ?? ''
  return (
    <>
      <AuctionChart attempts={attempts} deadlineMs={chain.quoteTimeoutMs} />
      <Ranking attempts={attempts} chainId={record.chainId} token={token} />
    </>
  )
}

/** The auction that an offer comes from. */
export function WhyOffer({ chain, record }: RecordViewProps) {
  return (
    <section class="panel auction" aria-labelledby="why-title">
      <div class="panel-head">
        <h2 id="why-title">Why this offer</h2>
        <a href={hrefHere('quote', record.quoteId)}>Record</a>
      </div>
      <RecordView chain={chain} record={record} />
    </section>
  )
}

/** How much better the best offer was than the next one, in basis points and in the token. */
export function Surplus({ record }: { readonly record: GetQuoteRecordResponse }) {
  const attempts = readAttempts(record)
  const bps = surplusBps(attempts)
  const [best, next] = [1, 2].map((rank) => attempts.find((attempt) => attempt.rank === rank)?.amount)
  if (bps === undefined || best === undefined || next === undefined) return null
  const isInput = isExactInput(record)
  const gained = best > next ? best - next : next - best
  const token = (isInput ? record.request?.outputToken : record.request?.inputToken) ?? ''
  return (
    <Fact name={<Term name="Surplus over the next offer" />}>
      <Bps bps={bps} /> · <Amount chainId={record.chainId} address={token} amount={gained} />
    </Fact>
  )
}
