import type { SolverQuoteRequest } from '../../../packages/solver/src/solver-options.js'

export const WETH_UNIT = 10n ** 18n
/** Of one WETH, in the smallest unit of USDC. */
export const PRICE = 2_500_000_000n

/** Sells USDC for WETH at `PRICE`. */
export function fixedPrice({ orderType, amount }: Pick<SolverQuoteRequest, 'orderType' | 'amount'>) {
  return { amount: orderType === 'EXACT_INPUT' ? (amount * PRICE) / WETH_UNIT : (amount * WETH_UNIT) / PRICE }
}
