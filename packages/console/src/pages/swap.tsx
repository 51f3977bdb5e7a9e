import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Chain, PairSummary } from '../../../../gen/aggregator/v1/chain_pb.js'
import { NO_USER } from '../../../protocol/src/quotes/quote.js'
import { RateChart } from '../components/charts/rate-chart.js'
import { FailureNotice, FromTemplate } from '../components/notice.js'
import { OrdersPanel } from '../components/order-rows.js'
import { WhyOffer } from '../components/record-view.js'
import { useFocusAfter } from '../components/use-focus-after.js'
import { offerOf } from '../data/auction/auction.js'
import { REFRESH_SECONDS, useAuction } from '../data/auction/auction-stream.js'
import { whyNoOffer } from '../data/auction/no-offer.js'
import { useIsValid } from '../data/auction/offer-check.js'
import { hrefHere } from '../data/chains.js'
import { isReachable, now } from '../data/clock.js'
import { connection } from '../data/events.js'
import { healthOf } from '../data/health.js'
import { instance } from '../data/instance.js'
import { useLatestOrders } from '../data/orders/use-latest-orders.js'
import { useQuoteRecord } from '../data/orders/use-order.js'
import { route } from '../data/route.js'
import { isRisky, saferAttempt, useReliabilities } from '../data/solvers/reliability.js'
import { isOfPair, lastListedPair } from '../data/tokens/pairs.js'
import { chainIdOfNames, takeTokenFromLink, tokensOf } from '../data/tokens/tokens.js'
import { usePairs } from '../data/tokens/use-pairs.js'
import { wallet } from '../wallet/connected-wallet.js'
import { loadWallet } from '../wallet/load.js'
import { useOnePrompt } from '../wallet/use-wallet-read.js'
import { AuctionPanel } from './swap/auction-panel.js'
import { Checklist, isTransferOpen } from './swap/checklist.js'
import { SwapForm } from './swap/form.js'
import { OwnSwaps } from './swap/own-swaps.js'
import { readSwapParams, writeSwapParams } from './swap/swap-params.js'
import { resumeSwap, takenOffer } from './swap/taken-offer.js'
import { TakenTerms } from './swap/taken-terms.js'
import { isSameSwap, useDebounced } from './swap/use-debounced.js'
import { usePrice } from './swap/use-price.js'
import { auctionRequest, readWantedSwap } from './swap/wanted-swap.js'

const LATEST = 5
const DEBOUNCE_MS = 350
const REFRESH_MS = REFRESH_SECONDS * 1000
/** An answer may come this much late before what is shown counts as old. */
const LATE_MS = 5000

/** A swap: the form at the left; at the right the auction and what the pair has traded, or the terms of the offer that was taken. */
export function SwapPage({ chain }: { readonly chain: Chain }) {
  const { chainId } = chain
  const params = readSwapParams(route.value)
  const pairs = usePairs(chainId)
  const { orders } = useLatestOrders(chainId)
  useTokensOfLink(chain)
  useFirstPair(chain, pairs.data?.pairs)
  useWalletTokens(chain, params.sell, params.buy)
  useEffect(() => resumeSwap(chain), [chainId])

  const taken = takenOffer.value?.chain.chainId === chainId ? takenOffer.value : undefined
  const account = wallet.value?.address
  const { wanted, problem } = readWantedSwap(chain, params, account)
  const settled = useDebounced(wanted, DEBOUNCE_MS)
  const isForNobody = settled?.user === ''
  // An auction can be watched without an address. Nobody can deposit with its offers.
  const asked = settled && { ...settled, user: settled.user || NO_USER }
  const onePrompt = useOnePrompt(chain, params.sell)
  const request = asked && auctionRequest(chain, asked, account, onePrompt)
  const auction = useAuction(taken === undefined ? request : undefined, isForNobody).value
  // An offer for what the form said a moment ago is not shown as one for what it says now.
  const shown = isSameSwap(wanted, settled) ? auction : { ...auction, takeable: undefined }
  const [solver, chooseSolver] = useState('')
  const offer = offerOf(shown.takeable?.offers, isForNobody ? '' : solver)
  const shownSolver = offer?.quote?.solver
  const { attempts = [] } = shown.ended ?? shown.round ?? {}
  const safer = saferAttempt(attempts, useReliabilities(chainId), shownSolver)
  const pair = safer && isRisky(safer[0][1]) ? safer : undefined
  const open = wanted?.user && shownSolver !== solver ? pair : undefined
  // The stream has the best offer checked, and no other.
  const safe = open?.[0][0].isVerified ? offerOf(shown.takeable?.offers, open[1][0].solver) : undefined
  const isValid = useIsValid(chainId, safe)
  // The next swap has its own choice.
  useEffect(() => chooseSolver(''), [taken === undefined, params.sell, params.buy])
  const auctionAt = auction.takeable?.cameAt
  const hasNoOffer = auction.round?.offers === 0 || auction.failure !== undefined
  const isAuctionOld = auctionAt === undefined ? hasNoOffer : auctionAt + REFRESH_MS < now.value
  // Its auction is the first price of a form without a user.
  const price = usePrice(chain, isForNobody && isAuctionOld ? settled : undefined)
  const cameAt = price.updatedAt ?? auctionAt
  const failure = isForNobody ? price.failure : auction.failure
  const record = useQuoteRecord(chainId, taken?.quoteId).data
  const title = useRef<HTMLHeadingElement>(null)
  useFocusAfter(title, taken?.offer.orderId, true)
  const isUnset = chainIdOfNames.value === chainId && !tokensOf(chainId).some(({ isListed }) => isListed)
  const activeSolvers = healthOf(chainId)?.activeSolvers ?? chain.activeSolvers
  const none = auction.round?.offers === 0 ? whyNoOffer(auction.round, activeSolvers) : ''
  const isOld = cameAt !== undefined && now.value - cameAt > REFRESH_MS + LATE_MS
  const oldSince =
    taken === undefined && (isOld || failure !== undefined || !isReachable.value) ? cameAt : undefined
  // The bar above the page says that the connection is lost.
  const failures =
    connection.value.state === 'lost'
      ? []
      : [auction.failure, price.failure?.reason === 'NO_QUOTES' ? undefined : price.failure]
  return (
    <div class={oldSince === undefined ? 'swap' : 'swap stale'}>
      <div class="swap-side">
        <section class="swap-form panel" aria-labelledby="swap-title">
          <h1 id="swap-title" ref={title} tabIndex={-1}>
            {taken === undefined ? 'Swap' : 'Your swap'}
          </h1>
          {taken === undefined ? (
            <>
              <p class="introduction">
                <bdi>{instance.name}</bdi>: market makers compete, and a contract locks your tokens until you
                are paid or refunded. <a href="help">How it works</a>
              </p>
              <SwapForm
                {...{ chain, params, wanted, problem, orders, offer, pair, open, price }}
                auction={shown}
                kept={pair ? undefined : safer}
                onChoose={chooseSolver}
                staleSince={oldSince}
              />
              {isUnset && (
                <div class="notice">
                  <FromTemplate id="no-list" />
                </div>
              )}
              {none !== '' && (
                <p class="notice notice-warning" role="status">
                  {none}
                </p>
              )}
              {failures.map((failure) => failure && <FailureNotice failure={failure} />)}
            </>
          ) : (
            <Checklist taken={taken} />
          )}
        </section>
        <OwnSwaps chain={chain} without={taken?.offer.orderId} />
      </div>
      <div class="swap-side">
        {taken === undefined ? (
          <>
            <AuctionPanel
              {...{ chain, auction, isForNobody }}
              valid={isValid ? safe : undefined}
              token={params.exact === 'sell' ? params.buy : params.sell}
              isAsking={request !== undefined}
              hasSolvers={activeSolvers > 0}
              chosen={open ? undefined : shownSolver}
              onChoose={isForNobody ? undefined : chooseSolver}
            />
            <section class="panel rate-panel" aria-label="Rate of the pair">
              <RateChart chainId={chainId} sell={params.sell} buy={params.buy} orders={orders} />
            </section>
            {params.sell !== '' && params.buy !== '' && (
              <OrdersPanel
                title="This pair"
                href={hrefHere('orders')}
                orders={orders?.filter((order) => isOfPair(order, params.sell, params.buy)).slice(0, LATEST)}
                without="user"
              />
            )}
          </>
        ) : isTransferOpen(taken) ? null : (
          <>
            <TakenTerms taken={taken} />
            {record && <WhyOffer record={record} taken={taken.offer.quote?.solver} />}
          </>
        )}
      </div>
    </div>
  )
}

/** A link may name its tokens. */
function useTokensOfLink({ chainId }: Chain): void {
  const { query } = route.value
  const sell = query.get('sell')
  const buy = query.get('buy')
  useMemo(() => {
    takeTokenFromLink(chainId, buy)
    takeTokenFromLink(chainId, sell)
  }, [chainId, sell, buy])
  useEffect(() => {
    // The claims of a link do not stay in the address bar, from where they would go on to others.
    if (sell?.includes(':') || buy?.includes(':')) writeSwapParams(readSwapParams(route.peek()))
  }, [chainId, sell, buy])
}

/** A form without tokens begins with the listed pair that was traded last. Before any was, with the first two tokens of the list. */
function useFirstPair({ chainId }: Chain, pairs: readonly PairSummary[] | undefined): void {
  const { query } = route.value
  const isEmpty = !query.has('sell') && !query.has('buy')
  const isRead = pairs !== undefined && chainIdOfNames.value === chainId
  useEffect(() => {
    if (!isEmpty || !isRead) return
    const last = lastListedPair(pairs, chainId)
    const [first, second] = tokensOf(chainId).filter(({ isListed }) => isListed)
    const sell = last?.inputToken ?? first?.address
    const buy = last?.outputToken ?? second?.address
    if (sell !== undefined && buy !== undefined)
      writeSwapParams({ ...readSwapParams(route.peek()), sell, buy })
  }, [isEmpty, isRead])
}

/** With a wallet on this chain, names and decimals come from the contracts. */
function useWalletTokens({ chainId }: Chain, sell: string, buy: string): void {
  const isOnChain = wallet.value !== undefined && BigInt(wallet.value.chainId) === chainId
  useEffect(() => {
    if (!isOnChain) return
    void loadWallet().then(({ readToken }) => {
      for (const token of [sell, buy]) if (token !== '') readToken(token).catch(() => {})
    })
  }, [isOnChain, sell, buy])
}
