import { tokenOf } from '../data/tokens.js'
import { exactAmount, formatAmount } from '../format/amount.js'
import { shorten } from '../format/shorten.js'

interface TokenProps {
  readonly chainId: number | bigint
  readonly address: string
}

/** A token: its symbol, a text from a stranger, with its address. */
export function TokenName({ chainId, address }: TokenProps) {
  const token = tokenOf(chainId, address)
  const note = token?.source === 'link' && token.symbol !== undefined ? ' (as a link says, not checked)' : ''
  return (
    <span class="token" title={`${address}${note}`}>
      {token?.symbol !== undefined && <bdi class="token-symbol">{token.symbol}</bdi>}
      <code>{shorten(address)}</code>
    </span>
  )
}

/** An amount of a token, cut off for reading. The exact amount is its title. */
export function Amount(
  props: TokenProps & {
    readonly amount: bigint | string | undefined
    readonly fraction?: number
    readonly bare?: boolean
  },
) {
  const { chainId, address, amount, fraction, bare } = props
  if (amount === undefined) return <span class="muted">–</span>
  const value = BigInt(amount)
  const decimals = tokenOf(chainId, address)?.decimals
  const exact = `${exactAmount(value, decimals)}${decimals === undefined ? ' of the smallest units; the decimals of the token are not known' : ''}`
  return (
    <span class="amount">
      <span class="number" title={exact}>
        {formatAmount(value, decimals, fraction === undefined ? {} : { fraction })}
        {decimals === undefined && <span class="muted"> units</span>}
      </span>
      {!bare && <TokenName chainId={chainId} address={address} />}
    </span>
  )
}
