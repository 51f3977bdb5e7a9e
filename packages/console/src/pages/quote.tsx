import type { Chain } from '../../../../gen/aggregator/v1/chain_pb.js'
import {
  DepositMode,
  type GetQuoteRecordResponse,
  QuoteKind,
} from '../../../../gen/aggregator/v1/quote_pb.js'
import { AuctionChart } from '../components/charts/auction-chart.js'
import { Fact } from '../components/facts.js'
import { Account, Id, SolverLabel } from '../components/id.js'
import { Answer } from '../components/notice.js'
import { Rate } from '../components/rate.js'
import { RecordRanking, Surplus } from '../components/record-view.js'
import { Age, Deadline } from '../components/time.js'
import { isExactInput, readAttempts } from '../data/auction/auction.js'
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

/** What was asked, who answered, and why the best offer won. */
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
  return (
    <>
      <section class="panel quote-summary" aria-labelledby="request-title">
        <div>
          <h2 id="request-title">What was asked</h2>
          <Amounts chainId={chainId} swap={swap} end={isInput ? 'exact input' : 'exact output'} />
        </div>
        <dl class="fact-row">
          <Fact name="Asked">
            <Age ms={Number(requestedAt)} />
          </Fact>
          <Fact name="Answered in">{formatDuration(durationMs)}</Fact>
          <Fact name="User">
            {kind === QuoteKind.INDICATIVE ? 'none: a price' : <Account address={request.userAddress} />}
          </Fact>
          <Fact name="Deposit">
            {request.depositMode === DepositMode.ADDRESS ? 'to an address' : 'with the contract'}
          </Fact>
        </dl>
      </section>
      <section class="panel" aria-labelledby="results-title">
        <h2 id="results-title">Who answered</h2>
        <div class="answers">
          <RecordRanking record={record} />
          <AuctionChart attempts={attempts} deadlineMs={chain.quoteTimeoutMs} />
        </div>
      </section>
      {best !== undefined && (
        <section class="panel" aria-labelledby="won-title">
          <h2 id="won-title">Why it won</h2>
          <p>Among valid offers, price alone decides.</p>
          <dl class="fact-row">
            <Fact name="Best offer of">
              <SolverLabel address={best.solver} />
            </Fact>
            <Fact name="Best rate">
              <Rate chainId={chainId} swap={swap} />
            </Fact>
            <Surplus record={record} />
            <Fact name="Offers valid until">
              <Deadline seconds={depositDeadline} />
            </Fact>
          </dl>
        </section>
      )}
    </>
  )
}
