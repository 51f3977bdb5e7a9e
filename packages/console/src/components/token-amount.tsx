import type { Chain } from '../../../../gen/aggregator/v1/chain_pb.js'
import { markOf } from '../data/tokens/known-token.js'
import { isAmbiguous, tokenOf } from '../data/tokens/tokens.js'
import { exactAmount, formatAmount, formatReceipt } from '../format/amount.js'
import { shorten } from '../format/shorten.js'

interface TokenProps {
  readonly chainId: number | bigint
  readonly address: string
  /** Leaves out the address beside the symbol of a token that is not listed. Its mark stays. */
  readonly isShort?: boolean
}

/** A token by its symbol. Its address stands beside a symbol that is not listed or not the only one, and in place of none. */
export function TokenName({ chainId, address, isShort = false }: TokenProps) {
  const token = tokenOf(chainId, address)
  if (token?.symbol === undefined)
    return (
      <code class="token" title={address}>
        {shorten(address)}
      </code>
    )
  const mark = markOf(token)
  const hasAddress = mark === undefined ? isAmbiguous(chainId, token) : !isShort
  return (
    <span class="token" title={mark === undefined ? address : `${address} (${mark})`}>
      <bdi class="token-symbol">{token.symbol}</bdi>
      {hasAddress && <code>{shorten(address)}</code>}
      {mark !== undefined && <span class="token-mark">{mark}</span>}
    </span>
  )
}

/** The logo of a listed token, or the first letter of its symbol. */
export function TokenLogo({ chainId, address }: TokenProps) {
  const { symbol = '?', logo } = tokenOf(chainId, address) ?? {}
  return logo === undefined ? (
    <span class="token-logo" aria-hidden="true">
      {[...symbol][0]}
    </span>
  ) : (
    <img class="token-logo" src={logo} alt="" width={20} height={20} />
  )
}

interface AmountProps extends TokenProps {
  readonly amount: bigint | string | undefined
  /** Leaves out the token. */
  readonly bare?: boolean
  /** Has so many digits that it multiplies out with its rate. */
  readonly isExact?: boolean
}

/** An amount of a token, cut off for reading. The exact amount is its title. */
export function Amount({ chainId, address, amount, bare, isShort, isExact }: AmountProps) {
  if (amount === undefined) return <span class="muted">–</span>
  const value = BigInt(amount)
  const decimals = tokenOf(chainId, address)?.decimals
  const exact = `${exactAmount(value, decimals)}${decimals === undefined ? ' of the smallest units; the decimals of the token are not known' : ''}`
  return (
    <span class="amount">
      <span class="number" title={exact}>
        {isExact ? formatReceipt(value, decimals) : formatAmount(value, decimals)}
        {decimals === undefined && !isShort && <span class="muted"> units</span>}
      </span>
      {!bare && ' '}
      {!bare && <TokenName chainId={chainId} address={address} isShort={isShort ?? false} />}
    </span>
  )
}

/** An amount of the token of a chain's bonds, whose name may sound like money. */
export const BondAmount = ({ chain, amount }: { readonly chain: Chain } & Pick<AmountProps, 'amount'>) => (
  <>
    <Amount chainId={chain.chainId} address={chain.bondToken?.address ?? ''} amount={amount} isShort />{' '}
    <span class="muted bond-note">(worth unknown)</span>
  </>
)
