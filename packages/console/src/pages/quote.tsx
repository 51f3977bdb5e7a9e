import type { Chain } from '../../../../gen/aggregator/v1/chain_pb.js'
import { type GetQuoteRecordResponse, QuoteKind } from '../../../../gen/aggregator/v1/quote_pb.js'
import { AuctionChart } from '../components/charts/auction-chart.js'
import { Fact } from '../components/facts.js'
import { Account, Id, SolverLabel } from '../components/id.js'
import { Answer } from '../components/notice.js'
import { Rate } from '../components/rate.js'
import { RecordRanking, Surplus } from '../components/record-view.js'
import { Age, Deadline } from '../components/time.js'
import { isExactInput, readAttempts, surplusBps } from '../data/auction/auction.js'
import { useQuoteRecord } from '../data/orders/use-order.js'
import { formatDuration } from '../format/time.js'
import { Amounts } from './order/amounts.js'

/** The record of a quote: what each solver answered, when, and why the best offer won. */
export function QuotePage({ chain, id: quoteId }: { readonly chain: Chain; readonly id: string }) {
  const record = useQuoteRecord(chain.chainId, quoteId)
  return (
    <>
      <div class="page-head">
        <h1>
          Quote <Id text={quoteId} label="quote id" />
        </h1>
      </div>
      <Answer query={record}>{(data) => <Auction chain={chain} record={data} />}</Answer>
    </>
  )
}

interface AuctionProps {
  readonly chain: Chain
  readonly record: GetQuoteRecordResponse
}

/** Who won with what, how the auction went, and who answered. */
function Auction({ chain, record }: AuctionProps) {
  const { request, chainId, durationMs, requestedAt, kind } = record
  const isInput = isExactInput(record)
  const attempts = readAttempts(record)
  const best = attempts.find(({ rank }) => rank === 1)
  if (request === undefined) return null
  const { amount, depositDeadline } = request
  const amounts = [amount, best?.amount?.toString()]
  const [inputAmount, outputAmount] = isInput ? amounts : amounts.toReversed()
  const swap = { ...request, inputAmount, outputAmount }
  const bps = surplusBps(attempts)
  return (
    <>
      <section class="panel quote-summary" aria-labelledby="won-title">
        <h2 id="won-title">
          {best ? <SolverLabel address={best.solver} /> : 'Nobody'} won{bps !== undefined && ' by '}
          <Surplus record={record} />
        </h2>
        <Amounts chainId={chainId} swap={swap} end={isInput ? 'exact input' : 'exact output'} />
        <dl class="fact-row">
          {best && (
            <Fact name="Rate">
              <Rate chainId={chainId} swap={swap} />
            </Fact>
          )}
          <Fact name="Offers valid until">
            <Deadline seconds={depositDeadline} />
          </Fact>
          <Fact name="Asked">
            <Age ms={Number(requestedAt)} />
          </Fact>
          <Fact name="Answered in">{formatDuration(durationMs)}</Fact>
          <Fact name="User">
            {kind === QuoteKind.INDICATIVE ? 'none: a price' : <Account address={request.userAddress} />}
          </Fact>
        </dl>
      </section>
      <section class="panel" aria-labelledby="results-title">
        <h2 id="results-title">Among valid offers, price alone decides</h2>
        <div class="answers">
          <RecordRanking record={record} />
          <AuctionChart attempts={attempts} deadlineMs={chain.quoteTimeoutMs} />
        </div>
      </section>
    </>
  )
}
