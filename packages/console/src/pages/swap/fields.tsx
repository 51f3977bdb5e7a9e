import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { Amount } from '../../components/token-amount.js'
import { isUserAddress, type SwapParams, writeSwapParams } from './swap-params.js'

interface ModeProps {
  readonly value: SwapParams['mode']
  readonly params: SwapParams
  readonly label: string
  readonly hint: string
}

/** One way to deposit. */
export function Mode({ value, params, label, hint }: ModeProps) {
  return (
    <label title={hint}>
      <input
        type="radio"
        name="mode"
        value={value}
        checked={params.mode === value}
        onChange={() => writeSwapParams({ ...params, mode: value })}
      />
      {label}
    </label>
  )
}

/** The address of a user without a connected wallet. */
export function UserField({ params }: { readonly params: SwapParams }) {
  return (
    <label class="user-field">
      <span>
        {params.mode === 'address'
          ? 'Your address: it gets the output, or a refund'
          : 'Or watch the auction for an address'}
      </span>
      <input
        class="wide-input"
        aria-invalid={params.user !== '' && !isUserAddress(params.user)}
        placeholder="0x…"
        value={params.user}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => writeSwapParams({ ...params, user: currentTarget.value.trim() })}
      />
    </label>
  )
}

/** How much of a token the user has, once a wallet is connected. */
export function Balance({
  chain,
  token,
  balance,
}: {
  readonly chain: Chain
  readonly token: string
  readonly balance: bigint | undefined
}) {
  if (balance === undefined) return null
  return (
    <span>
      you have <Amount chainId={chain.chainId} address={token} amount={balance} bare />
    </span>
  )
}
