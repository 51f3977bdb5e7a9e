import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { Chain } from '../../../../gen/aggregator/v1/chain_pb.js'
import { FailureNotice } from '../components/notice.js'
import { useFocusAfter } from '../components/use-focus-after.js'
import { useAuction } from '../data/auction-stream.js'
import { listOrders } from '../data/orders.js'
import { useQuery } from '../data/query.js'
import { route } from '../data/route.js'
import { takeTokenFromLink, tokenOf, tokensOf } from '../data/tokens.js'
import { exactAmount, parseAmount } from '../format/amount.js'
import { loadWallet } from '../wallet/load.js'
import { wallet } from '../wallet/state.js'
import { AuctionPanel } from './swap/auction-panel.js'
import { Checklist } from './swap/checklist.js'
import { SwapForm } from './swap/form.js'
import { OwnSwaps } from './swap/own-swaps.js'
import { readSwapParams, writeSwapParams } from './swap/swap-params.js'
import { takenOffer } from './swap/taken-offer.js'
import { isSameSwap, useDebounced } from './swap/use-debounced.js'
import { usePrice } from './swap/use-price.js'
import { auctionRequest, readWantedSwap } from './swap/wanted-swap.js'

const DEBOUNCE_MS = 350

/** A swap: the form at the left, the auction at the right. */
export function SwapPage({ chain }: { readonly chain: Chain }) {
  const params = readSwapParams(route.value)
  useTokensOfLink(chain)
  useUsualPair(chain)
  useWalletTokens(chain, params.sell, params.buy)

  const taken = takenOffer.value?.chain.chainId === chain.chainId ? takenOffer.value : undefined
  const { wanted, problem } = readWantedSwap(chain, params, wallet.value?.address)
  const settled = useDebounced(wanted, DEBOUNCE_MS)
  const request =
    settled === undefined || settled.user === ''
      ? undefined
      : auctionRequest(chain, settled, wallet.value?.address)
  const auction = useAuction(request, taken !== undefined).value
  // An offer for what the form said a moment ago is not shown as one for what it says now.
  const shown = isSameSwap(wanted, settled) ? auction : { ...auction, offer: undefined, nextAt: undefined }
  const price = usePrice(chain, settled !== undefined && settled.user === '' ? settled : undefined)
  const title = useRef<HTMLHeadingElement>(null)
  useFocusAfter(title, taken?.offer.orderId, true)
  const isOutput = params.exact === 'sell'
  return (
    <div class="swap">
      <div class="swap-side">
        <section class="swap-form panel" aria-labelledby="swap-title">
          <h1 id="swap-title" ref={title} tabIndex={-1}>
            {taken === undefined ? 'Swap' : 'Your swap'}
          </h1>
          {taken === undefined ? (
            <SwapForm
              chain={chain}
              params={params}
              wanted={wanted}
              problem={problem}
              auction={shown}
              price={price}
            />
          ) : (
            <Checklist taken={taken} />
          )}
          {taken === undefined && auction.failure !== undefined && (
            <FailureNotice failure={auction.failure} />
          )}
          {taken === undefined && price.failure !== undefined && <FailureNotice failure={price.failure} />}
        </section>
        <OwnSwaps chain={chain} without={taken?.offer.orderId} />
      </div>
      <AuctionPanel
        chain={chain}
        auction={auction}
        token={isOutput ? params.buy : params.sell}
        isAsking={request !== undefined}
        price={price.data}
      />
    </div>
  )
}

/** A link may say symbol and decimals of its tokens. */
function useTokensOfLink({ chainId }: Chain): void {
  const { query } = route.value
  const sell = query.get('sell')
  const buy = query.get('buy')
  // Before the first request, which would be for an amount in the smallest units.
  useMemo(() => {
    takeTokenFromLink(chainId, buy)
    takeTokenFromLink(chainId, sell)
  }, [chainId, sell, buy])
  useEffect(() => {
    // What the link claims is kept, and need not stay in the address bar.
    if (sell?.includes(':') || buy?.includes(':')) writeSwapParams(readSwapParams(route.peek()))
  }, [chainId, sell, buy])
}

/** A form without tokens begins with the pair that was last swapped here. */
function useUsualPair({ chainId }: Chain): void {
  const { query } = route.value
  const isEmpty = !query.has('sell') && !query.has('buy')
  const latest = useQuery(isEmpty ? `orders ${chainId} pair` : undefined, (signal) =>
    listOrders(chainId, { pageSize: 5 }, signal),
  )
  useEffect(() => {
    if (!isEmpty || latest.data === undefined) return
    const order = latest.data.orders.find(
      ({ inputToken, outputToken }) => inputToken !== undefined && outputToken !== undefined,
    )
    const [first, second] = tokensOf(chainId)
    const sell = order?.inputToken ?? first?.address
    const buy = order?.outputToken ?? second?.address
    if (sell === undefined || buy === undefined) return
    const params = readSwapParams(route.peek())
    // One of the smallest units is too little for any solver.
    const amount = tokenOf(chainId, sell)?.decimals === undefined ? order?.inputAmount : undefined
    writeSwapParams({ ...params, sell, buy, amount: amount ?? params.amount })
  }, [isEmpty, latest.data])
}

/** With a wallet on this chain, symbols and decimals come from the contracts. */
function useWalletTokens({ chainId }: Chain, sell: string, buy: string): void {
  const onChain = wallet.value !== undefined && BigInt(wallet.value.chainId) === chainId
  useEffect(() => {
    if (!onChain) return
    void loadWallet().then(({ readToken }) => {
      for (const token of [sell, buy]) {
        const before = token === '' ? undefined : tokenOf(chainId, token)?.decimals
        const read = token === '' ? Promise.resolve() : readToken(token)
        read.then(
          () => before === undefined && keepAmount(chainId, token),
          () => {},
        )
      }
    })
  }, [onChain, sell, buy])
}

/** An amount that was typed in the smallest units stays the same amount once the decimals are known. */
function keepAmount(chainId: bigint, token: string): void {
  const params = readSwapParams(route.peek())
  const decimals = tokenOf(chainId, token)?.decimals
  const amount = parseAmount(params.amount, undefined)
  const isExact = token === (params.exact === 'sell' ? params.sell : params.buy)
  if (route.peek().page !== 'swap') return
  if (isExact && decimals !== undefined && amount !== undefined)
    writeSwapParams({ ...params, amount: exactAmount(amount, decimals) })
}
