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
import { RecordView } from '../components/record-view.js'
import { StateMark, type Tone } from '../components/state-mark.js'
import { Age, Deadline } from '../components/time.js'
import { Amount, TokenName } from '../components/token-amount.js'
import { isExactInput } from '../data/auction/auction.js'
import { latestNow } from '../data/clock.js'
import { useQuoteRecord } from '../data/orders/use-order.js'
import { formatDuration } from '../format/time.js'

const OUTCOMES: Readonly<Record<QuoteOutcome, readonly [word: string, tone: Tone]>> = {
  [QuoteOutcome.UNSPECIFIED]: ['unknown', 'neutral'],
  [QuoteOutcome.QUOTED]: ['quoted', 'good'],
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
            <Facts record={data} />
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

function Facts({ record }: { readonly record: GetQuoteRecordResponse }) {
  const { request, chainId, outcome, durationMs, requestedAt, kind } = record
  if (request === undefined) return null
  const isInput = isExactInput(record)
  const isOver = request.depositDeadline * 1000 < latestNow.value
  const [word, tone] = OUTCOMES[outcome ?? QuoteOutcome.UNSPECIFIED] ?? ['other', 'neutral']
  return (
    <section class="panel" aria-label="Request">
      <dl class="fact-row request">
        <Fact name="Outcome">
          <StateMark word={word} tone={tone} />
        </Fact>
        <Fact name={isInput ? 'Sells exactly' : 'Buys exactly'}>
          <Amount
            chainId={chainId}
            address={isInput ? request.inputToken : request.outputToken}
            amount={request.amount}
          />
        </Fact>
        <Fact name={isInput ? 'For' : 'With'}>
          <TokenName chainId={chainId} address={isInput ? request.outputToken : request.inputToken} />
        </Fact>
        <Fact name="User">
          {kind === QuoteKind.INDICATIVE ? 'none: a price' : <Account address={request.userAddress} />}
        </Fact>
        <Fact name="Deposit">
          {request.depositMode === DepositMode.ADDRESS ? 'to an address' : 'with the contract'}
        </Fact>
        <Fact name={isOver ? 'No longer an offer since' : 'Offers valid until'}>
          <Deadline seconds={request.depositDeadline} />
        </Fact>
        <Fact name="Asked">
          <Age ms={Number(requestedAt)} /> for {formatDuration(durationMs)}
        </Fact>
      </dl>
    </section>
  )
}
