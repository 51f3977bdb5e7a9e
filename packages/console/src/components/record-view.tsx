import type { Chain } from '../../../../gen/aggregator/v1/chain_pb.js'
import type { GetQuoteRecordResponse } from '../../../../gen/aggregator/v1/quote_pb.js'
import { isExactInput, readAttempts } from '../data/auction/auction.js'
import { hrefHere } from '../data/chains.js'
import { AuctionChart } from './charts/auction-chart.js'
import { Ranking } from './ranking.js'

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
      <Ranking isRecord attempts={attempts} chainId={record.chainId} token={token} />
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
