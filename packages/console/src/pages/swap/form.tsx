import { useRef } from 'preact/hooks'
import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import type { GetPriceResponse } from '../../../../../gen/aggregator/v1/quote_pb.js'
import { Rate } from '../../components/rate.js'
import { useFocusAfter } from '../../components/use-focus-after.js'
import { type Auction, REFRESH_SECONDS } from '../../data/auction/auction-stream.js'
import { now } from '../../data/clock.js'
import type { Query } from '../../data/query.js'
import { type KnownToken, markOf } from '../../data/tokens/known-token.js'
import { tokenOf } from '../../data/tokens/tokens.js'
import { exactAmount, formatAmount } from '../../format/amount.js'
import { shorten } from '../../format/shorten.js'
import { formatAge } from '../../format/time.js'
import { wallet } from '../../wallet/connected-wallet.js'
import type { WantedSwap } from '../../wallet/swap-calls.js'
import { useBalance } from '../../wallet/use-wallet-read.js'
import { Action } from './action.js'
import { ConnectedWallet } from './connect.js'
import { Balance, Mode, UserField } from './fields.js'
import { amountOf, type SwapParams, writeSwapParams } from './swap-params.js'
import { TokenField } from './token-field.js'

interface SwapFormProps {
  readonly chain: Chain
  readonly params: SwapParams
  readonly wanted: WantedSwap | undefined
  readonly problem: string
  readonly auction: Auction
  readonly price: Query<GetPriceResponse>
  /** Since when nothing newer came, Unix time in milliseconds; undefined while what is shown is fresh. */
  readonly staleSince: number | undefined
}

/** The amounts of the best offer or price. */
interface Found {
  readonly input: bigint
  readonly output: bigint
  /** Number of valid offers; undefined while the round runs. */
  readonly offers: number | undefined
}

/** One column, two amounts, one action. */
export function SwapForm(props: SwapFormProps) {
  const { chain, params, wanted, auction, price, staleSince } = props
  const { chainId } = chain
  const found = findAmounts(auction, price.data, wanted)
  const change = (changes: Partial<SwapParams>) => writeSwapParams({ ...params, ...changes })
  const balance = useBalance(chain, params.sell)
  const typed = amountOf(chainId, params)
  const sides = {
    sell: { label: 'You sell', token: params.sell, amount: found?.input },
    buy: { label: 'You buy', token: params.buy, amount: found?.output },
  } as const
  const field = (side: 'sell' | 'buy') => {
    const { label, token, amount } = sides[side]
    const isExact = params.exact === side
    const known = token === '' ? undefined : tokenOf(chainId, token)
    const decimals = known?.decimals
    const shown = amount === undefined ? '' : formatAmount(amount, decimals)
    return (
      <TokenField
        chainId={chainId}
        label={isExact ? `${label} exactly` : label}
        token={token}
        amount={isExact ? typed : shown}
        title={amount === undefined ? '' : exactAmount(amount, decimals)}
        isInvalid={isExact && wanted === undefined && typed !== '' && params.sell !== '' && params.buy !== ''}
        onAmount={(text) => change({ exact: side, amount: text })}
        onToken={(address) => change({ [side]: address })}
      >
        <FieldNote {...props} side={side} known={known} found={found} balance={balance} />
      </TokenField>
    )
  }
  // To watch is the alternative to a wallet, which the contract needs.
  const isAfter = params.mode === 'contract' && wallet.value === undefined
  // With keys, the place of the wallet is the same one before and after: it takes the focus.
  const parts = [
    <WalletPlace key="wallet" params={params} />,
    <Action key="action" {...props} balance={balance} />,
  ]
  return (
    <div class={staleSince === undefined ? 'form' : 'form stale'}>
      {field('sell')}
      <button
        type="button"
        class="turn"
        aria-label="Exchange the two tokens"
        title="Exchange the two tokens"
        onClick={() => change({ sell: params.buy, buy: params.sell })}
      >
        ↓↑
      </button>
      {field('buy')}
      <p class="rate">
        {found !== undefined && (
          <Rate
            chainId={chainId}
            inputToken={params.sell}
            outputToken={params.buy}
            input={found.input}
            output={found.output}
            isOld={staleSince !== undefined}
          />
        )}
      </p>
      <fieldset class="mode">
        <legend>Deposit</legend>
        <Mode
          value="contract"
          params={params}
          label="by contract"
          hint="Approve and deposit with your wallet."
        />
        <Mode
          value="address"
          params={params}
          label="to an address"
          hint="Send the tokens from anywhere, without a connected wallet."
        />
      </fieldset>
      {isAfter ? parts.toReversed() : parts}
    </div>
  )
}

interface FieldNoteProps extends SwapFormProps {
  readonly side: 'sell' | 'buy'
  readonly known: KnownToken | undefined
  readonly found: Found | undefined
  readonly balance: bigint | undefined
}

/** The line below an amount: what there is of a token, or how good and how fresh the price is. */
function FieldNote(props: FieldNoteProps) {
  const { chain, params, side, known, found, balance, staleSince } = props
  if (known?.source === 'wallet' && known.decimals === undefined)
    return <span>Smallest units: no contract at this address says its decimals.</span>
  return (
    <>
      {known !== undefined && markOf(known) !== undefined && (
        <code title={known.address}>{shorten(known.address)}</code>
      )}
      {side === 'sell' && <Balance chain={chain} token={params.sell} balance={balance} />}
      {side === 'buy' && found?.offers !== undefined && (
        <span>{`Best of ${found.offers} ${found.offers === 1 ? 'offer' : 'offers'}`}</span>
      )}
      {side === 'buy' &&
        (staleSince === undefined ? (
          <Countdown {...props} />
        ) : (
          <span class="warning">Price of {formatAge(staleSince, now.value)}</span>
        ))}
    </>
  )
}

/** The wallet, or the address in its place. It takes the focus of the button that a change of the wallet removes. */
function WalletPlace({ params }: Pick<SwapFormProps, 'params'>) {
  const place = useRef<HTMLDivElement>(null)
  const isConnected = wallet.value !== undefined
  useFocusAfter(place, isConnected)
  return (
    <div ref={place} class="wallet-place" tabIndex={-1}>
      {isConnected ? <ConnectedWallet /> : <UserField params={params} />}
    </div>
  )
}

/** The other side shows nothing while the typed side is being changed. */
function findAmounts(
  auction: Auction,
  price: GetPriceResponse | undefined,
  wanted: WantedSwap | undefined,
): Found | undefined {
  if (wanted === undefined) return undefined
  const quote = auction.offer?.offer.quote
  if (wanted.user !== '')
    return (
      quote && {
        input: BigInt(quote.inputAmount),
        output: BigInt(quote.outputAmount),
        offers: auction.round?.offers,
      }
    )
  const best = price?.best
  return best && { input: BigInt(best.inputAmount), output: BigInt(best.outputAmount), offers: price.offers }
}

/** When the amounts are asked for again. */
function Countdown({ auction, price, wanted }: Pick<SwapFormProps, 'auction' | 'price' | 'wanted'>) {
  if (wanted === undefined || price.failure !== undefined) return null
  const priceAt = price.updatedAt === undefined ? undefined : price.updatedAt + REFRESH_SECONDS * 1000
  const nextAt = wanted.user === '' ? priceAt : auction.nextAt
  const seconds =
    nextAt === undefined
      ? undefined
      : Math.min(REFRESH_SECONDS, Math.max(0, Math.ceil((nextAt - now.value) / 1000)))
  return <span>{seconds === undefined ? 'Asking…' : `Refresh in ${seconds} s`}</span>
}
