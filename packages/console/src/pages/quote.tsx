import type { Chain } from '../../../../gen/aggregator/v1/chain_pb.js'
import { DepositMode, type GetQuoteRecordResponse } from '../../../../gen/aggregator/v1/quote_pb.js'
import { NO_USER } from '../../../protocol/src/quotes/quote.js'
import { Id } from '../components/id.js'
import { Answer } from '../components/notice.js'
import { SolverRecord } from '../components/paid.js'
import { Rate } from '../components/rate.js'
import { RecordRanking } from '../components/record-view.js'
import { Moment } from '../components/time.js'
import { isExactInput, readAttempts } from '../data/auction/auction.js'
import { hrefHere } from '../data/chains.js'
import { latestNow } from '../data/clock.js'
import { useLatestOrders } from '../data/orders/use-latest-orders.js'
import { useQuoteRecord } from '../data/orders/use-order.js'
import { saferAttempt, useReliabilities } from '../data/solvers/reliability.js'
import { tokenOf } from '../data/tokens/tokens.js'
import { exactAmount } from '../format/amount.js'
import { shorten } from '../format/shorten.js'
import { formatClock } from '../format/time.js'
import { Amounts } from './order/amounts.js'
import { isPast } from './order/refund.js'
import { PriceReference } from './swap/price-reference.js'
import { SaferOffer } from './swap/safer-offer.js'
import { WhatHappens } from './swap/what-happens.js'

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

/** Who offered the most, until when, and who answered. */
function Auction({ chain, record }: { readonly chain: Chain; readonly record: GetQuoteRecordResponse }) {
  const { request, chainId } = record
  const isInput = isExactInput(record)
  const attempts = readAttempts(record)
  const best = attempts.find(({ rank }) => rank === 1)
  const safer = saferAttempt(attempts, useReliabilities(chainId))
  const { orders } = useLatestOrders(chainId)
  if (request === undefined) return null
  const { amount, depositDeadline, userAddress, inputToken: sell, outputToken: buy } = request
  const amounts = [amount, best?.amount?.toString()]
  const [inputAmount, outputAmount] = isInput ? amounts : amounts.toReversed()
  const swap = { ...request, inputAmount, outputAmount }
  const terms = { ...request, inputAmount: `${inputAmount}`, outputAmount: `${outputAmount}` }
  const askedAt = Number(record.requestedAt) / 1000
  const isPrice = userAddress.toLowerCase() === NO_USER
  const isOver = isPast(depositDeadline, latestNow.value)
  const isOpen = best !== undefined && !isPrice && !isOver
  const isTransfer = request.depositMode === DepositMode.ADDRESS
  const fixed = exactAmount(BigInt(amount), tokenOf(chainId, isInput ? sell : buy)?.decimals)
  return (
    <>
      <section class="panel quote-summary" aria-labelledby="best-title">
        <div class="panel-head">
          <h2 id="best-title">
            {best ? 'Best price: ' : 'Nobody made a valid offer'}
            {best && <SolverRecord {...{ chainId }} solver={best.solver} />}
          </h2>
          <span class="muted">
            Asked <Moment seconds={askedAt} />;{' '}
            {isPrice
              ? 'binds nobody'
              : `${isOver ? 'was ' : ''}signed for ${shorten(userAddress)} until ${formatClock(depositDeadline * 1000)}`}
          </span>
          <a
            class="button"
            href={hrefHere('swap', '', {
              sell,
              buy,
              amount: fixed,
              exact: isInput ? undefined : 'buy',
              mode: isTransfer ? 'address' : undefined,
            })}
          >
            Ask again for this swap
          </a>
        </div>
        <Amounts chainId={chainId} swap={swap} end={isInput ? 'exact input' : 'exact output'} />
        {best && (
          <div class="rate">
            <Rate chainId={chainId} swap={swap} />
            {isOpen && <PriceReference {...{ chainId, orders }} swap={terms} until={askedAt} />}
          </div>
        )}
        {isOpen && <WhatHappens {...{ chain, isTransfer }} swap={terms} />}
        {isOpen && safer && (
          <SaferOffer
            chain={chain}
            wanted={{ inputToken: sell, outputToken: buy, isExactInput: isInput }}
            pair={safer}
          />
        )}
      </section>
      <section class="panel" aria-labelledby="results-title">
        <h2 id="results-title">Ranked by price alone: look at what each has paid</h2>
        <RecordRanking record={record} isOpen={!isOver} />
      </section>
    </>
  )
}
