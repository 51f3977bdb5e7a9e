import { signal } from '@preact/signals'
import { hrefHere } from '../../data/chains.js'
import { type Route, replaceRoute } from '../../data/route.js'
import { isTrusted } from '../../data/tokens/known-token.js'
import { tokenOf } from '../../data/tokens/tokens.js'
import { hasWrongChecksum } from '../../format/checksum.js'

/** What the swap form shows. All of it but the receiver is in the URL, so that a link shows the same. */
export interface SwapParams {
  /** Empty until a token is chosen. */
  readonly sell: string
  readonly buy: string
  /** As it is typed, on the exact side; undefined while nothing was typed. */
  readonly amount: string | undefined
  readonly exact: 'sell' | 'buy'
  readonly mode: 'contract' | 'address'
  /** The user's address while no wallet is connected, as typed or confirmed by a click; empty without one. */
  readonly user: string
  /** The address that a link names as the user's; empty without one. */
  readonly suggestedUser: string
}

export const ADDRESS = /^0x[0-9a-f]{40}$/i
const ZERO = /^0x0{40}$/

/** Who gets the output. No link sets it. */
const user = signal('')

/** Whether an address has a typing error. */
export const isMistyped = (text: string) => ADDRESS.test(text) && hasWrongChecksum(text)

/** Whether an address can have the output: no one has the key of the zero address. */
export const isUserAddress = (text: string) => ADDRESS.test(text) && !ZERO.test(text) && !isMistyped(text)

/** Reads the form from the URL. */
export function readSwapParams({ query }: Pick<Route, 'query'>): SwapParams {
  const tokenIn = (name: string) => /^0x[0-9a-f]{40}/i.exec(query.get(name) ?? '')?.[0] ?? ''
  const suggested = query.get('for') ?? ''
  return {
    sell: tokenIn('sell'),
    buy: tokenIn('buy'),
    amount: query.get('amount')?.slice(0, 100),
    exact: query.get('exact') === 'buy' ? 'buy' : 'sell',
    mode: query.get('mode') === 'address' ? 'address' : 'contract',
    user: user.value,
    suggestedUser: isUserAddress(suggested) ? suggested : '',
  }
}

/** The amount that the form asks for: what is typed, or one whole token. It is empty while nobody reliable has said what is whole. */
export function amountOf(chainId: bigint, { amount, exact, sell, buy }: SwapParams): string {
  return amount ?? (isTrusted(tokenOf(chainId, exact === 'sell' ? sell : buy)) ? '1' : '')
}

/** Writes the form to the URL. What is usual is left out. */
export function writeSwapParams(params: SwapParams): void {
  const { sell, buy, amount, exact, mode, suggestedUser } = params
  const some = (text: string) => (text === '' ? undefined : text)
  user.value = params.user
  replaceRoute(
    hrefHere('swap', '', {
      sell: some(sell),
      buy: some(buy),
      amount,
      exact: exact === 'buy' ? exact : undefined,
      mode: mode === 'address' ? mode : undefined,
      for: some(suggestedUser),
    }),
  )
}
