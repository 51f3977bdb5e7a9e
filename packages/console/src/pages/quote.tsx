import type { Chain } from '../../../../gen/aggregator/v1/chain_pb.js'
import { DepositMode, type GetQuoteRecordResponse } from '../../../../gen/aggregator/v1/quote_pb.js'
import { NO_USER } from '../../../protocol/src/quotes/quote.js'
import { Id } from '../components/id.js'
import { Answer } from '../components/notice.js'
import { SolverRecord } from '../components/paid.js'
import { Rate } from '../components/rate.js'
import { RecordRanking } from '../components/record-view.js'
import { StateMark } from '../components/state-mark.js'
import { isExactInput, readAttempts } from '../data/auction/auction.js'
import { lastOffers } from '../data/auction/auction-stream.js'
import { hrefHere } from '../data/chains.js'
import { latestNow } from '../data/clock.js'
import { useLatestOrders } from '../data/orders/use-latest-orders.js'
import { useQuoteRecord } from '../data/orders/use-order.js'
import { navigate } from '../data/route.js'
import { saferAttempt, useReliabilities } from '../data/solvers/reliability.js'
import { tokenOf } from '../data/tokens/tokens.js'
import { exactAmount } from '../format/amount.js'
import { shorten } from '../format/shorten.js'
import { formatClock } from '../format/time.js'
import { wallet } from '../wallet/connected-wallet.js'
import { Amounts } from './order/amounts.js'
import { isPast } from './order/refund.js'
import { PriceReference } from './swap/price-reference.js'
import { SaferOffer } from './swap/safer-offer.js'
import { takeOffer } from './swap/taken-offer.js'
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
  const { request, chainId, quoteId } = record
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
  const isPrice = userAddress.toLowerCase() === NO_USER
  const isOver = isPast(depositDeadline, latestNow.value)
  const isOpen = best !== undefined && !isPrice && !isOver
  const isTransfer = request.depositMode === DepositMode.ADDRESS
  const fixed = exactAmount(BigInt(amount), tokenOf(chainId, isInput ? sell : buy)?.decimals)
  const valid = `for ${shorten(userAddress)} until ${formatClock(depositDeadline * 1000)}`
  const user = wallet.value?.address ?? ''
  const isOwn = user.toLowerCase() === userAddress.toLowerCase()
  // As on the page of the swap, the wallet must have read the tokens.
  const isRead = [sell, buy].every((token) => tokenOf(chainId, token)?.source === 'wallet')
  const isHere = isOpen && isOwn && isRead && !isTransfer && lastOffers.value?.quoteId === quoteId
  const wanted = {
    ...{ inputToken: sell, outputToken: buy, isExactInput: isInput, amount: BigInt(amount), user },
    mode: 'CONTRACT',
  } as const
  /** Takes the offer of a solver, which leads to the page of the swap. */
  const take = (solver: string) => {
    const offer = lastOffers.value?.offers.find(({ quote }) => quote?.solver === solver)
    if (offer === undefined) return
    void takeOffer({ chain, quoteId, offer, wanted })
    navigate(hrefHere('swap'))
  }
  return (
    <>
      <section class="panel quote-summary" aria-labelledby="best-title">
        <div class="panel-head">
          <h2 id="best-title">
            {best ? 'Best price: ' : 'Nobody made a valid offer'}
            {best && <SolverRecord {...{ chainId }} solver={best.solver} />}
          </h2>
          <StateMark
            word={isPrice ? 'binds nobody' : isOver ? `was ${valid}` : `signed ${valid}`}
            tone={isOpen && best.isVerified ? 'good' : 'neutral'}
          />
          {isHere ? (
            <button type="button" class="main-action" onClick={() => take(best.solver)}>
              Swap with this price
            </button>
          ) : (
            <a
              class="button"
              href={hrefHere('swap', '', {
                ...{ sell, buy, amount: fixed, exact: isInput ? undefined : 'buy' },
                mode: isTransfer ? 'address' : undefined,
              })}
            >
              Open this swap
            </a>
          )}
        </div>
        <Amounts chainId={chainId} swap={swap} end={isInput ? 'exact input' : 'exact output'} />
        {best && (
          <div class="rate">
            <Rate chainId={chainId} swap={swap} />
            {isOpen && <PriceReference {...{ chainId, orders }} swap={terms} />}
          </div>
        )}
        {isOpen && <WhatHappens {...{ chain, isTransfer }} swap={terms} />}
        {isOpen && safer && (
          <SaferOffer chain={chain} wanted={wanted} pair={safer}>
            {isHere && (
              <button type="button" class="link" onClick={() => take(safer[1][0].solver)}>
                Take it
              </button>
            )}
          </SaferOffer>
        )}
      </section>
      <section class="panel" aria-labelledby="results-title">
        <h2 id="results-title">Ranked by price alone: look at what each has paid</h2>
        <RecordRanking record={record} isOpen={!isOver} />
      </section>
    </>
  )
}
