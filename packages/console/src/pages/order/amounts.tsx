import type { ComponentChildren } from 'preact'
import type { SwapAmounts } from '../../components/rate.js'
import { Amount } from '../../components/token-amount.js'
import { chainName } from '../../data/chains.js'
import type { OrderEnd } from '../../data/orders/order-end.js'

/** What has become of the two sides of a swap. */
const SIDES: Readonly<
  Record<OrderEnd | 'open' | 'exact input' | 'exact output', readonly [input: string, output: string]>
> = {
  'exact input': ['Sell exactly', 'Best offer'],
  'exact output': ['Best offer', 'Buy exactly'],
  open: ['Selling', 'Buying'],
  filled: ['Sold', 'Bought'],
  refunded: ['Returned', 'Offered'],
  ended: ['To sell', 'Offered'],
}

interface AmountsProps {
  readonly chainId: bigint
  readonly swap: SwapAmounts
  /** Undefined before the order has ended. Of a quote, the side that is fixed. */
  readonly end: keyof typeof SIDES | undefined
  /** What came beside the input. */
  readonly children?: ComponentChildren
}

/** The two amounts of a swap: the first thing to read. */
export function Amounts({ chainId, swap, end, children }: AmountsProps) {
  const { inputToken = '', inputAmount, outputToken = '', outputAmount, outputChainId = chainId } = swap
  const [sold, bought] = SIDES[end ?? 'open']
  return (
    <dl class="hero-amounts">
      <dt>{sold}</dt>
      <dd>
        <Amount chainId={chainId} address={inputToken} amount={inputAmount} isExact />
      </dd>
      {children}
      <dt>{bought}</dt>
      <dd class={bought === 'Offered' ? 'not-paid' : ''}>
        <Amount chainId={outputChainId} address={outputToken} amount={outputAmount} isExact />
        {outputChainId !== chainId && <span class="muted"> on {chainName(outputChainId)}</span>}
      </dd>
    </dl>
  )
}
