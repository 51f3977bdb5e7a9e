import { hrefHere } from '../../data/chains.js'
import { type Route, replaceRoute } from '../../data/route.js'
import { hasWrongChecksum } from '../../format/checksum.js'

/** What the swap form shows. All of it is in the URL, so that a link shows the same. */
export interface SwapParams {
  /** Empty until a token is chosen. */
  readonly sell: string
  readonly buy: string
  /** As it is typed, on the exact side. */
  readonly amount: string
  readonly exact: 'sell' | 'buy'
  readonly mode: 'contract' | 'address'
  /** The user's address while no wallet is connected; empty without one. */
  readonly user: string
}

export const ADDRESS = /^0x[0-9a-f]{40}$/i
const ZERO = /^0x0{40}$/

/** Whether an address has a typing error. */
export const isMistyped = (text: string) => ADDRESS.test(text) && hasWrongChecksum(text)

/** Whether an address can have the output: no one has the key of the zero address. */
export const isUserAddress = (text: string) => ADDRESS.test(text) && !ZERO.test(text) && !isMistyped(text)

/** Reads the form from the URL. */
export function readSwapParams({ query }: Pick<Route, 'query'>): SwapParams {
  const tokenOf = (name: string) => /^0x[0-9a-f]{40}/i.exec(query.get(name) ?? '')?.[0] ?? ''
  return {
    sell: tokenOf('sell'),
    buy: tokenOf('buy'),
    amount: (query.get('amount') ?? '1').slice(0, 100),
    exact: query.get('exact') === 'buy' ? 'buy' : 'sell',
    mode: query.get('mode') === 'address' ? 'address' : 'contract',
    user: query.get('for') ?? '',
  }
}

/** Writes the form to the URL. What is usual is left out. */
export function writeSwapParams(params: SwapParams): void {
  const { sell, buy, amount, exact, mode, user } = params
  const some = (text: string) => (text === '' ? undefined : text)
  replaceRoute(
    hrefHere('swap', '', {
      sell: some(sell),
      buy: some(buy),
      amount,
      exact: exact === 'buy' ? exact : undefined,
      mode: mode === 'address' ? mode : undefined,
      for: some(user),
    }),
  )
}
