import { expect, it } from 'vitest'
import { fixedPrice } from '../support/solver-kit/fixed-price.js'
import { startRunning } from './running-solver.js'

it.each([
  { isForAddress: false, mode: 'CONTRACT', outcome: 'CANCELLED' },
  { isForAddress: true, mode: 'ADDRESS', outcome: 'KEPT' },
])(
  '`cancelQuotes` finds a quote that was told $mode $outcome where the contract keeps the tokens at its address',
  async ({ isForAddress, outcome }) => {
    const { quoteFor, transfer, passBlocks, cancelQuotes } = await startRunning('deployed')
    const known = await quoteFor(1_000n, { isForAddress })
    transfer(known, (known.quote.inputAmount * 95n) / 100n)
    await passBlocks(1)
    const cancelling = cancelQuotes()
    await passBlocks(3)
    expect(await cancelling).toEqual([{ orderId: known.orderId, outcome }])
  },
)

it('a quote that is being priced while `cancelQuotes` is called is not sent', async () => {
  let whilePricing: () => unknown = () => {}
  const quote: typeof fixedPrice = (asked) => {
    whilePricing()
    return fixedPrice(asked)
  }
  const { ask, cancelQuotes, passBlocks } = await startRunning('reference', {}, { quote })
  await passBlocks(2)
  whilePricing = cancelQuotes
  expect(await ask(1_000n)).toBeUndefined()
  whilePricing = () => {}
  expect(await ask(1_000n)).toBeDefined()
})
