import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Chain, PairSummary } from '../../../../gen/aggregator/v1/chain_pb.js'
import type { GetPriceResponse } from '../../../../gen/aggregator/v1/quote_pb.js'
import { NO_USER } from '../../../protocol/src/quotes/quote.js'
import { RateChart } from '../components/charts/rate-chart.js'
import { FailureNotice } from '../components/notice.js'
import { useFocusAfter } from '../components/use-focus-after.js'
import { offerOf } from '../data/auction/auction.js'
import { type Auction, REFRESH_SECONDS, useAuction } from '../data/auction/auction-stream.js'
import { whyNoOffer } from '../data/auction/no-offer.js'
import { isReachable, now } from '../data/clock.js'
import { connection } from '../data/events.js'
import { healthOf } from '../data/health.js'
import { instance } from '../data/instance.js'
import type { Query } from '../data/query.js'
import { route } from '../data/route.js'
import { lastListedPair } from '../data/tokens/pairs.js'
import { chainIdOfNames, takeTokenFromLink, tokensOf } from '../data/tokens/tokens.js'
import { usePairs } from '../data/tokens/use-pairs.js'
import { wallet } from '../wallet/connected-wallet.js'
import { loadWallet } from '../wallet/load.js'
import { useOnePrompt } from '../wallet/use-wallet-read.js'
import { AuctionPanel } from './swap/auction-panel.js'
import { Checklist } from './swap/checklist.js'
import { SwapForm } from './swap/form.js'
import { OwnSwaps } from './swap/own-swaps.js'
import { PairDay } from './swap/pair-day.js'
import { readSwapParams, writeSwapParams } from './swap/swap-params.js'
import { resumeSwap, takenOffer } from './swap/taken-offer.js'
import { isSameSwap, useDebounced } from './swap/use-debounced.js'
import { usePrice } from './swap/use-price.js'
import { auctionRequest, readWantedSwap } from './swap/wanted-swap.js'

const DEBOUNCE_MS = 350
/** An answer may come this much late before what is shown counts as old. */
const LATE_MS = 5000

/** A swap: the form at the left, the auction at the right, and below what the pair has traded. */
export function SwapPage({ chain }: { readonly chain: Chain }) {
  const { chainId } = chain
  const params = readSwapParams(route.value)
  const pairs = usePairs(chainId)
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
  const auction = useAuction(request, { isHeld: taken !== undefined, isOnce: isForNobody }).value
  // An offer for what the form said a moment ago is not shown as one for what it says now.
  const shown = isSameSwap(wanted, settled) ? auction : { ...auction, takeable: undefined, nextAt: undefined }
  const [solver, chooseSolver] = useState('')
  const offer = offerOf(shown.takeable?.offers, solver)
  const price = usePrice(chain, isForNobody ? settled : undefined)
  const title = useRef<HTMLHeadingElement>(null)
  useFocusAfter(title, taken?.offer.orderId, true)
  const activeSolvers = healthOf(chainId)?.activeSolvers ?? chain.activeSolvers
  const none = auction.round?.offers === 0 ? whyNoOffer(auction.round, activeSolvers) : ''
  const isUnset = chainIdOfNames.value === chainId && !tokensOf(chainId).some(({ isListed }) => isListed)
  const oldSince = taken === undefined ? staleSince(isForNobody, auction, price) : undefined
  // The bar above the page says that the connection is lost.
  const failures =
    connection.value.state === 'lost'
      ? []
      : [auction.failure, price.failure?.reason === 'NO_QUOTES' ? undefined : price.failure]
  return (
    <>
      <div class={oldSince === undefined ? 'swap' : 'swap stale'}>
        <div class="swap-side">
          <section class="swap-form panel" aria-labelledby="swap-title">
            <h1 id="swap-title" ref={title} tabIndex={-1}>
              {taken === undefined ? 'Swap' : 'Your swap'}
            </h1>
            {taken === undefined ? (
              <>
                <p class="introduction">
                  Market makers compete for your swap. A contract holds your tokens until you are paid.{' '}
                  {instance.isNamed && (
                    <>
                      Run by <bdi>{instance.name}</bdi>.{' '}
                    </>
                  )}
                  <a href="help">How it works</a>
                </p>
                <SwapForm
                  chain={chain}
                  params={params}
                  wanted={wanted}
                  problem={problem}
                  auction={shown}
                  offer={offer}
                  price={price}
                  staleSince={oldSince}
                />
                {isUnset && (
                  <p class="notice">
                    This site has no token list, so no tokens are suggested. Choose a token by its address; a
                    connected wallet reads what it is. The operator adds a list with{' '}
                    <code>TOKEN_LIST_{String(chainId)}</code>.
                  </p>
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
          <AuctionPanel
            chain={chain}
            auction={auction}
            token={params.exact === 'sell' ? params.buy : params.sell}
            isAsking={request !== undefined}
            isForNobody={isForNobody}
            hasSolvers={activeSolvers > 0}
            offer={offer}
            onChoose={taken === undefined && !isForNobody ? chooseSolver : undefined}
          />
          <section class="panel rate-panel" aria-label="Rate of the pair">
            <RateChart chainId={chainId} sell={params.sell} buy={params.buy} height={170} />
          </section>
        </div>
      </div>
      {params.sell !== '' && params.buy !== '' && (
        <PairDay chain={chain} sell={params.sell} buy={params.buy} pairs={pairs.data?.pairs} />
      )}
    </>
  )
}

/** Since when the amounts that are shown have not been confirmed. @returns undefined while they are fresh, or there are none */
function staleSince(isPrice: boolean, auction: Auction, price: Query<GetPriceResponse>): number | undefined {
  const cameAt = isPrice ? price.updatedAt : auction.takeable?.cameAt
  if (cameAt === undefined) return undefined
  const failure = isPrice ? price.failure : auction.failure
  const isOld = now.value - cameAt > REFRESH_SECONDS * 1000 + LATE_MS
  return isOld || failure !== undefined || !isReachable.value ? cameAt : undefined
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
