import type { Address } from '../values/hex.js'
import type { Quote, Swap } from './quote.js'

/** A swap that was asked for, as its caller names it. */
interface AskedSwap extends Swap {
  readonly user: Address
  /** Chain of the output; that of the deposit when left out. */
  readonly destinationChainId?: number | undefined
}

/** The first member in which a quote is not of the swap that was asked for: an instance may answer anything. Undefined when it is. */
export function differenceFromAsked(asked: AskedSwap, quote: Quote): keyof Quote | undefined {
  const { user, inputToken, outputToken, orderType, chainId, destinationChainId = chainId } = asked
  const fixed = orderType === 'EXACT_INPUT' ? 'inputAmount' : 'outputAmount'
  const expected = {
    user,
    inputToken,
    outputToken,
    orderType,
    outputChainId: destinationChainId,
    [fixed]: asked.amount,
  }
  const names = Object.keys(expected) as (keyof typeof expected & keyof Quote)[]
  return names.find((name) => `${quote[name]}`.toLowerCase() !== `${expected[name]}`.toLowerCase())
}
