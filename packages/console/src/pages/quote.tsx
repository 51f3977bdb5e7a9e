import type { Chain } from '../../../../gen/aggregator/v1/chain_pb.js'
import {
  DepositMode,
  type GetQuoteRecordResponse,
  QuoteKind,
  QuoteOutcome,
} from '../../../../gen/aggregator/v1/quote_pb.js'
import { Fact } from '../components/facts.js'
import { Account, Id } from '../components/id.js'
import { Answer } from '../components/notice.js'
import { Rate } from '../components/rate.js'
import { RecordView, Surplus } from '../components/record-view.js'
import { StateMark, type Tone } from '../components/state-mark.js'
import { Age, Deadline } from '../components/time.js'
import { isExactInput, readAttempts } from '../data/auction/auction.js'
import { latestNow } from '../data/clock.js'
import { useQuoteRecord } from '../data/orders/use-order.js'
import { formatDuration } from '../format/time.js'
import { Amounts } from './order/amounts.js'

const OUTCOMES: Readonly<Record<QuoteOutcome, readonly [word: string, tone: Tone]>> = {
  [QuoteOutcome.UNSPECIFIED]: ['unknown', 'neutral'],
  [QuoteOutcome.QUOTED]: ['offered', 'offer'],
  [QuoteOutcome.NO_QUOTES]: ['no offers', 'bad'],
  [QuoteOutcome.CANCELLED]: ['cancelled', 'neutral'],
}

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
      <Answer query={record}>
        {(data) => (
          <>
            <Summary record={data} />
            <section class="panel" aria-labelledby="results-title">
              <h2 id="results-title">Results of the solvers</h2>
              <RecordView chain={chain} record={data} />
            </section>
          </>
        )}
      </Answer>
    </>
  )
}

/** What was asked for, and the best offer. */
function Summary({ record }: { readonly record: GetQuoteRecordResponse }) {
  const { request, chainId, outcome, durationMs, requestedAt, kind } = record
  if (request === undefined) return null
  const { amount, depositDeadline } = request
  const isInput = isExactInput(record)
  const best = readAttempts(record)
    .find(({ rank }) => rank === 1)
    ?.amount?.toString()
  const [inputAmount, outputAmount] = isInput ? [amount, best] : [best, amount]
  const swap = { ...request, inputAmount, outputAmount }
  const [word, tone] = OUTCOMES[outcome ?? QuoteOutcome.UNSPECIFIED] ?? ['other', 'neutral']
  return (
    <section class="panel quote-summary" aria-label="Request">
      <div>
        <p class="hero-state">
          <StateMark word={word} tone={tone} />
        </p>
        <Amounts chainId={chainId} swap={swap} end={isInput ? 'exact input' : 'exact output'} />
      </div>
      <dl class="fact-row">
        {best !== undefined && (
          <Fact name="Best rate">
            <Rate chainId={chainId} swap={swap} />
          </Fact>
        )}
        <Surplus record={record} />
        <Fact name="User">
          {kind === QuoteKind.INDICATIVE ? 'none: a price' : <Account address={request.userAddress} />}
        </Fact>
        <Fact name="Deposit">
          {request.depositMode === DepositMode.ADDRESS ? 'to an address' : 'with the contract'}
        </Fact>
        <Fact
          name={depositDeadline * 1000 < latestNow.value ? 'No longer an offer since' : 'Offers valid until'}
        >
          <Deadline seconds={depositDeadline} />
        </Fact>
        <Fact name="Asked">
          <Age ms={Number(requestedAt)} /> for {formatDuration(durationMs)}
        </Fact>
      </dl>
    </section>
  )
}
