import { useRef } from 'preact/hooks'
import type { Order } from '../../../../../gen/aggregator/v1/order_pb.js'
import type { GetPriceResponse } from '../../../../../gen/aggregator/v1/quote_pb.js'
import { SolverRecord } from '../../components/paid.js'
import { Rate } from '../../components/rate.js'
import { Age } from '../../components/time.js'
import { Amount } from '../../components/token-amount.js'
import { useFocusAfter } from '../../components/use-focus-after.js'
import { offerOf } from '../../data/auction/auction.js'
import type { Query } from '../../data/query.js'
import { type KnownToken, markOf } from '../../data/tokens/known-token.js'
import { tokenOf } from '../../data/tokens/tokens.js'
import { exactAmount, formatReceipt } from '../../format/amount.js'
import { shorten } from '../../format/shorten.js'
import { wallet } from '../../wallet/connected-wallet.js'
import { useBalances } from '../../wallet/use-wallet-read.js'
import { Action, type ActionProps } from './action.js'
import { AddressRisks } from './address-risks.js'
import { ConnectedWallet } from './connect.js'
import { PriceReference } from './price-reference.js'
import { amountOf, type SwapParams, writeSwapParams } from './swap-params.js'
import { TokenField } from './token-field.js'
import { UserField } from './user-field.js'
import { type SwapTerms, WhatHappens } from './what-happens.js'

interface SwapFormProps extends Omit<ActionProps, 'balance'> {
  /** The latest orders of the chain; undefined before they are read. */
  readonly orders: readonly Order[] | undefined
  /** Without a user, what has come since the auction for nobody. */
  readonly price: Query<GetPriceResponse>
  /** Since when nothing newer came, Unix time in milliseconds; undefined while what is shown is fresh. */
  readonly staleSince: number | undefined
}

/** The offer or price that is shown. */
interface Found extends SwapTerms {
  /** Number of valid offers; undefined while the first round runs. */
  readonly offers: number | undefined
}

const MODES = [
  ['contract', 'With a wallet'],
  ['address', 'By transfer'],
] as const

/** One column, two amounts, one action. */
export function SwapForm(props: SwapFormProps) {
  const { chain, params, wanted, staleSince, orders, open } = props
  const { chainId } = chain
  const found = findAmounts(props)
  const change = (changes: Partial<SwapParams>) => writeSwapParams({ ...params, ...changes })
  const turned = { sell: params.buy, buy: params.sell }
  const balances = useBalances(
    chain,
    [params.sell, params.buy].filter((token) => token !== ''),
  )
  const typed = amountOf(chainId, params)
  const sides = {
    sell: { label: 'You sell', token: params.sell, amount: found && BigInt(found.inputAmount) },
    buy: { label: 'You buy', token: params.buy, amount: found && BigInt(found.outputAmount) },
  } as const
  const field = (side: 'sell' | 'buy') => {
    const { label, token, amount } = sides[side]
    const isExact = params.exact === side
    const other = sides[side === 'sell' ? 'buy' : 'sell'].token
    const known = token === '' ? undefined : tokenOf(chainId, token)
    const decimals = known?.decimals
    const amounts = open?.map(([{ amount }]) => amount) ?? [amount]
    const shown =
      amount === undefined ? '' : amounts.map((each = 0n) => formatReceipt(each, decimals)).join(' or ')
    return (
      <TokenField
        chain={chain}
        label={isExact ? `${label} exactly` : label}
        token={token}
        amount={isExact ? typed : shown}
        title={amount === undefined ? '' : exactAmount(amount, decimals)}
        isInvalid={isExact && wanted === undefined && typed !== '' && params.sell !== '' && params.buy !== ''}
        onAmount={(text) => change({ exact: side, amount: text })}
        onToken={(address) => change(address === other ? turned : { [side]: address })}
      >
        <FieldNote {...props} side={side} known={known} found={found} balance={balances?.get(token)} />
      </TokenField>
    )
  }
  const isTransfer = params.mode === 'address'
  const missing =
    wanted?.user !== '' ? 'choose an offer' : isTransfer ? 'enter your address' : 'connect a wallet'
  return (
    <div class={staleSince === undefined ? 'form' : 'form stale'}>
      <fieldset class="mode">
        <legend class="visually-hidden">Pay</legend>
        {MODES.map(([mode, label]) => (
          <label key={mode}>
            <input
              type="radio"
              name="mode"
              value={mode}
              checked={params.mode === mode}
              onChange={() => change({ mode })}
            />
            {label}
            {mode === 'address' && <span class="visually-hidden"> to an address</span>}
          </label>
        ))}
      </fieldset>
      {field('sell')}
      <button type="button" class="turn" aria-label="Exchange the two tokens" onClick={() => change(turned)}>
        ↓↑
      </button>
      {field('buy')}
      <div class="rate">
        {found !== undefined && (
          <>
            {!open && <Rate chainId={chainId} swap={found} isOld={staleSince !== undefined} />}
            <PriceReference {...{ chainId, orders, swap: found }} />
          </>
        )}
      </div>
      <WalletPlace params={params} />
      {isTransfer && found && <AddressRisks {...{ chain, swap: found }} />}
      <Action {...props} balance={balances?.get(params.sell)} />
      {found && <WhatHappens {...{ chain, isTransfer, missing }} swap={found} />}
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
  const { chain, params, side, known, found, offer, open, auction, balance, staleSince } = props
  if (known?.source === 'wallet' && known.decimals === undefined)
    return <span>Smallest units: no contract at this address says its decimals.</span>
  const token = params[side]
  const isOther = offer !== undefined && offer !== auction.takeable?.offers[0]
  return (
    <>
      {known !== undefined && markOf(known) !== undefined && (
        <code title={known.address}>{shorten(known.address)}</code>
      )}
      {side === 'buy' && found?.offers !== undefined && (
        <span>
          {open ? '' : isOther ? 'Chosen from' : 'Best of'} {found.offers}{' '}
          {found.offers === 1 ? 'offer' : 'offers'}
          {found.solver !== undefined && (
            <>
              : <SolverRecord chainId={chain.chainId} solver={found.solver} />
            </>
          )}
        </span>
      )}
      {side === 'buy' && staleSince !== undefined && (
        <span class="warning">
          Price of <Age ms={staleSince} />
        </span>
      )}
      {balance !== undefined && (
        <span class="balance">
          Balance <Amount chainId={chain.chainId} address={token} amount={balance} bare />
          {side === 'sell' && balance > 0n && (
            <button
              type="button"
              class="max"
              onClick={() =>
                writeSwapParams({ ...params, exact: 'sell', amount: exactAmount(balance, known?.decimals) })
              }
            >
              Max
            </button>
          )}
        </span>
      )}
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
      {isConnected ? <ConnectedWallet /> : params.mode === 'address' && <UserField params={params} />}
    </div>
  )
}

/** The other side shows nothing while the typed side is being changed. */
function findAmounts({ params, auction, offer, open, price, wanted }: SwapFormProps): Found | undefined {
  if (wanted === undefined) return undefined
  const offers = auction.ended?.offers
  if (wanted.user !== '' && !open) return offer?.quote && { ...offer.quote, offers }
  const { quote } = offerOf(auction.takeable?.offers, open?.[1][0].solver ?? '') ?? {}
  const { inputAmount, outputAmount, solver } = price.data?.best ?? quote ?? {}
  if (inputAmount === undefined || outputAmount === undefined) return undefined
  // A price binds nobody, nor does the safer of two offers before the user has chosen: it has no deadlines.
  const tokens = { inputToken: params.sell, outputToken: params.buy }
  const found = { ...tokens, inputAmount, outputAmount, offers: price.data?.offers ?? offers }
  return open || solver === undefined ? found : { ...found, solver }
}
