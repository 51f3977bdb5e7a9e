import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import type { Auction } from '../../data/auction-stream.js'
import { now } from '../../data/clock.js'
import { tokenOf } from '../../data/tokens.js'
import { wallet } from '../../wallet/state.js'
import type { Wish } from '../../wallet/swap-calls.js'
import { Connect } from './connect.js'
import type { SwapParams } from './swap-params.js'
import { takeOffer } from './taken-offer.js'

interface ActionProps {
  readonly chain: Chain
  readonly params: SwapParams
  readonly wish: Wish | undefined
  /** Why there is no wish; empty with one. */
  readonly problem: string
  readonly auction: Auction
}

/** The one main action: what the user can do next. */
export function Action({ chain, params, wish, problem, auction }: ActionProps) {
  const taken = auction.offer
  const isContract = params.mode === 'contract'
  if (isContract && wallet.value === undefined) return <Connect />
  const take = () => {
    if (taken !== undefined && wish !== undefined)
      void takeOffer({ chain, quoteId: taken.quoteId, offer: taken.offer, wish })
  }
  const isExpired = taken !== undefined && taken.expiresAt < now.value
  // With a wallet, nothing is deposited before the decimals are read from the contracts.
  const isRead =
    wallet.value === undefined || [params.sell, params.buy].every((token) => isReadByWallet(chain, token))
  const isReady = taken !== undefined && wish !== undefined && !isExpired && isRead
  const waiting = !isRead
    ? 'Reading the tokens'
    : isExpired
      ? 'The offer has expired'
      : 'Waiting for an offer'
  const missing = problem !== '' ? problem : wish?.user === '' ? 'Enter your address' : waiting
  return (
    <>
      <button type="button" class="main-action" disabled={!isReady} onClick={take}>
        {!isReady ? missing : isContract ? 'Swap' : 'Get the deposit address'}
      </button>
      {!isContract && wallet.value === undefined && <ConnectAside />}
    </>
  )
}

const isReadByWallet = ({ chainId }: Chain, token: string) => tokenOf(chainId, token)?.source === 'wallet'

/** In address mode a wallet is not needed, but it checks the address. */
function ConnectAside() {
  return (
    <details class="aside">
      <summary>Connect a wallet to have the deposit address checked</summary>
      <Connect />
    </details>
  )
}
