import { useState } from 'preact/hooks'
import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { FromTemplate } from '../../components/notice.js'
import { paidOf } from '../../components/paid.js'
import { Amount } from '../../components/token-amount.js'
import type { Offer } from '../../data/auction/auction.js'
import type { Auction } from '../../data/auction/auction-stream.js'
import { latestNow } from '../../data/clock.js'
import { isKept } from '../../data/orders/own-swaps.js'
import type { SaferPair } from '../../data/solvers/reliability.js'
import { nameOf } from '../../data/solvers/solvers.js'
import { tokenOf } from '../../data/tokens/tokens.js'
import { group } from '../../format/amount.js'
import { wallet } from '../../wallet/connected-wallet.js'
import type { WantedSwap } from '../../wallet/swap-calls.js'
import { useAttempt } from '../../wallet/use-attempt.js'
import { Connect } from './connect.js'
import { SaferOffer } from './safer-offer.js'
import type { SwapParams } from './swap-params.js'
import { takeOffer } from './taken-offer.js'
import { UNLISTED } from './wanted-swap.js'

export interface ActionProps {
  readonly chain: Chain
  readonly params: SwapParams
  readonly wanted: WantedSwap | undefined
  /** Why there is no wanted swap; empty with one. */
  readonly problem: string
  readonly auction: Auction
  /** The offer that the page shows: the button takes it, with exactly these amounts. Without a user, the best one of an auction for nobody. */
  readonly offer: Offer | undefined
  /** That offer and a safer one, while its solver has left too many orders unpaid. */
  readonly pair: SaferPair | undefined
  /** The same while the user must choose between them. */
  readonly open: SaferPair | undefined
  /** Without such a pair, the shown offer and one a little below it, of a solver with a better record. */
  readonly kept: SaferPair | undefined
  /** Takes the offer of another solver into the form. */
  readonly onChoose: (solver: string) => void
  /** How much the account of the wallet has of the token to sell; undefined when it is not known. */
  readonly balance: bigint | undefined
}

/** The one main action: what the user can do next. */
export function Action(props: ActionProps) {
  const { chain, params, wanted, problem, auction, offer, pair, open, kept, onChoose } = props
  const known = wallet.value
  const [isRead, setRead] = useState(false)
  const isContract = params.mode === 'contract'
  const isTyped =
    params.amount !== undefined && params.sell !== '' && params.buy !== '' && problem !== UNLISTED
  const judged = pair ?? kept
  const warning = judged && (
    <SaferOffer {...{ chain, wanted }} pair={judged}>
      {kept && wanted?.user && (
        <button type="button" class="link" onClick={() => onChoose(kept[1][0].solver)}>
          Take it
        </button>
      )}
    </SaferOffer>
  )
  if (known === undefined && (isContract || problem === UNLISTED))
    return (
      <>
        {warning}
        <Connect />
        {problem !== '' && <p class={isTyped ? 'form-problem' : 'muted'}>{problem}.</p>}
      </>
    )
  if (known !== undefined && BigInt(known.chainId) !== chain.chainId) return <SwitchChain chain={chain} />
  const quoteId = auction.takeable?.quoteId
  const take = (offer: Offer | undefined) => {
    if (quoteId !== undefined && offer !== undefined && wanted !== undefined)
      void takeOffer({ chain, quoteId, offer, wanted })
  }
  const missing = problem !== '' ? problem : whatIsMissing(props)
  const isUnread = !isContract && !isRead
  const tick = !isContract && (
    <label class="tick">
      <input type="checkbox" checked={isRead} onChange={() => setRead(!isRead)} />I have read the rules above
      and keep to them
    </label>
  )
  const equal = open?.map((judged) => ({
    judged,
    offer: auction.takeable?.offers.find(({ quote }) => quote?.solver === judged[0].solver),
  }))
  if (missing === '' && equal?.every(({ offer }) => offer !== undefined))
    return (
      <fieldset class="equal-offers">
        <legend>Choose an offer: price, or orders paid in 24 h</legend>
        {tick}
        {equal.map(({ offer, judged }) => (
          <button key={judged[0].solver} type="button" disabled={isUnread} onClick={() => take(offer)}>
            <EqualOffer {...{ chain, params, open, judged }} />
          </button>
        ))}
      </fieldset>
    )
  return (
    <>
      {tick}
      {warning}
      <button
        type="button"
        class="main-action"
        disabled={missing !== '' || isUnread}
        onClick={() => take(offer)}
      >
        {missing !== '' ? missing : isContract ? <SwapWords {...props} /> : 'Get the deposit address'}
      </button>
      {missing === UNKEPT && (
        <div class="form-problem" role="alert">
          <FromTemplate id="no-storage" />
        </div>
      )}
    </>
  )
}

/** What the button swaps. */
function SwapWords({ chain: { chainId }, offer }: ActionProps) {
  const { inputToken = '', inputAmount, outputToken = '', outputAmount } = offer?.quote ?? {}
  return (
    <span>
      Swap <Amount chainId={chainId} address={inputToken} amount={inputAmount} isShort isExact /> for{' '}
      <Amount chainId={chainId} address={outputToken} amount={outputAmount} isShort isExact />
    </span>
  )
}

interface EqualOfferProps extends Pick<ActionProps, 'chain' | 'params' | 'open'> {
  readonly judged: SaferPair[0]
}

/** One of two offers between which the user chooses: the better price and the better record have the same weight. */
function EqualOffer({ chain: { chainId }, params, open, judged }: EqualOfferProps) {
  const { mode, exact, sell, buy } = params
  const [{ solver, amount = 0n }, of] = judged
  const than = judged === open?.[0] ? open[1][0].amount : undefined
  const isSale = exact === 'sell'
  const token = { chainId, address: isSale ? buy : sell, isShort: true }
  return (
    <>
      <span>
        {mode === 'contract' ? 'Swap with' : 'Address of'} <bdi>{nameOf(solver)}</bdi>
      </span>{' '}
      <Amount {...token} amount={amount} />
      {than === undefined ? (
        paidOf(of)
      ) : (
        <span class="warning">
          {isSale ? '+' : '−'}
          <Amount {...token} amount={isSale ? amount - than : than - amount} />,{' '}
          {group(`${of.ended - of.paid}`)} of {group(`${of.ended}`)} not paid
        </span>
      )}
    </>
  )
}

const UNKEPT = 'No address without storage'

/** What a valid form still lacks; empty when the offer can be taken. */
function whatIsMissing({ chain, params, wanted, auction, offer, balance }: ActionProps): string {
  if (wanted?.user === '') return 'Enter your address'
  if (params.mode === 'address' && !isKept.value) return UNKEPT
  // With a wallet, nothing is deposited before the decimals are read from the contracts.
  const isRead = (token: string) => tokenOf(chain.chainId, token)?.source === 'wallet'
  if (wallet.value && ![params.sell, params.buy].every(isRead)) return 'Reading the tokens'
  const quote = offer?.quote
  if (quote === undefined)
    return auction.round?.offers === 0 ? 'No offers in this round' : 'Waiting for an offer'
  if (quote.depositDeadline * 1000 < latestNow.value) return 'The offer has expired'
  const needed = BigInt(quote.inputAmount)
  // An address can be paid from anywhere.
  const isShort = params.mode === 'contract' && balance !== undefined && balance < needed
  return isShort ? `Not enough ${tokenOf(chain.chainId, params.sell)?.symbol ?? 'of the token to sell'}` : ''
}

/** Nothing can be read or sent on another chain. */
export function SwitchChain({ chain }: { readonly chain: Chain }) {
  const { complaint, attempt } = useAttempt()
  return (
    <>
      <button
        type="button"
        class="main-action"
        onClick={() => attempt(({ switchChain }) => switchChain(chain))}
      >
        Switch the wallet to {chain.name}
      </button>
      {complaint}
    </>
  )
}
