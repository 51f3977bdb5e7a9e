import type { Chain } from '../../../../gen/aggregator/v1/chain_pb.js'
import { type GetQuoteRecordResponse, QuoteKind } from '../../../../gen/aggregator/v1/quote_pb.js'
import { Fact } from '../components/facts.js'
import { Account, Id, SolverLabel } from '../components/id.js'
import { Answer } from '../components/notice.js'
import { Rate } from '../components/rate.js'
import { RecordRanking, Surplus } from '../components/record-view.js'
import { StateMark } from '../components/state-mark.js'
import { Term } from '../components/term.js'
import { Age, Deadline } from '../components/time.js'
import { isExactInput, readAttempts, surplusBps } from '../data/auction/auction.js'
import { hrefHere } from '../data/chains.js'
import { latestNow } from '../data/clock.js'
import { useQuoteRecord } from '../data/orders/use-order.js'
import { tokenOf } from '../data/tokens/tokens.js'
import { exactAmount } from '../format/amount.js'
import { Amounts } from './order/amounts.js'
import { isPast } from './order/refund.js'

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
      <Answer query={record}>{(data) => <Auction record={data} />}</Answer>
    </>
  )
}

/** Who offered the most, until when, and who answered. */
function Auction({ record }: { readonly record: GetQuoteRecordResponse }) {
  const { request, chainId, requestedAt, kind } = record
  const isInput = isExactInput(record)
  const attempts = readAttempts(record)
  const best = attempts.find(({ rank }) => rank === 1)
  if (request === undefined) return null
  const { amount, depositDeadline, inputToken: sell, outputToken: buy } = request
  const amounts = [amount, best?.amount?.toString()]
  const [inputAmount, outputAmount] = isInput ? amounts : amounts.toReversed()
  const swap = { ...request, inputAmount, outputAmount }
  const isPrice = kind === QuoteKind.INDICATIVE
  const isOver = isPast(depositDeadline, latestNow.value)
  const fixed = exactAmount(BigInt(amount), tokenOf(chainId, isInput ? sell : buy)?.decimals)
  return (
    <>
      <section class="panel quote-summary" aria-labelledby="best-title">
        <div class="panel-head">
          <h2 id="best-title">
            {best ? 'Best offer: ' : 'Nobody made a valid offer'}
            {best && <SolverLabel address={best.solver} />}
          </h2>
          <StateMark
            word={isPrice ? 'binds nobody' : isOver ? 'expired' : 'still valid'}
            tone={isPrice || isOver ? 'neutral' : 'good'}
          />
          <a
            class="button"
            href={hrefHere('swap', '', { sell, buy, amount: fixed, exact: isInput ? undefined : 'buy' })}
          >
            Ask for new offers
          </a>
        </div>
        <Amounts chainId={chainId} swap={swap} end={isInput ? 'exact input' : 'exact output'} />
        <dl class="fact-row">
          {best && (
            <Fact name="Rate">
              <Rate chainId={chainId} swap={swap} />
            </Fact>
          )}
          {surplusBps(attempts) !== undefined && (
            <Fact name={<Term name="Better than the next offer" />}>
              <Surplus record={record} />
            </Fact>
          )}
          <Fact name="Offers valid until">
            <Deadline seconds={depositDeadline} />
          </Fact>
          <Fact name="Asked">
            <Age ms={Number(requestedAt)} />
          </Fact>
          <Fact name="User">{isPrice ? 'none: a price' : <Account address={request.userAddress} />}</Fact>
        </dl>
      </section>
      <section class="panel" aria-labelledby="results-title">
        <h2 id="results-title">Among valid offers, price alone decides</h2>
        <RecordRanking record={record} isOpen={!isOver} />
      </section>
    </>
  )
}
