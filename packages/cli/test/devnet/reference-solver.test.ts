import { maxUint256 } from 'viem'
import { expect, it } from 'vitest'
import { price } from '../../src/devnet/reference-solver.js'

const WETH = '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0'
const USDC = '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9'
const SPREAD_BPS = 5

const tokens = [
  { address: WETH, decimals: 18, priceMicros: 2_500_000_000n },
  { address: USDC, decimals: 6, priceMicros: 1_000_000n },
] as const

function ask(orderType: 'EXACT_INPUT' | 'EXACT_OUTPUT', amount: bigint, isReversed = false) {
  const [inputToken, outputToken] = isReversed ? ([USDC, WETH] as const) : ([WETH, USDC] as const)
  return price(tokens, SPREAD_BPS, { inputToken, outputToken, orderType, amount })
}

it('a swap is priced from the table, less the spread', () => {
  expect(ask('EXACT_INPUT', 10n ** 18n)).toEqual({ inputAmount: 10n ** 18n, outputAmount: 2_498_750_000n })
})

it.each([
  ['an input above 2^256-1', 'EXACT_OUTPUT', maxUint256, false],
  ['an output above 2^256-1', 'EXACT_INPUT', maxUint256, true],
  ['an output of 0', 'EXACT_INPUT', 1n, false],
  ['an input of 0', 'EXACT_INPUT', 0n, false],
] as const)('an amount that gives %s has no price', (_, orderType, amount, isReversed) => {
  expect(ask(orderType, amount, isReversed)).toBeUndefined()
})
