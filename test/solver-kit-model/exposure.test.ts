import { expect, it } from 'vitest'
import { startRunning } from './running-solver.js'
import { BOND, CHAIN_ID, FEE_TOKEN, USDC, WETH } from './world.js'

it('what is promised and owed is told at any time', async () => {
  const { quoteFor, deposit, transfer, passHeld, solver } = await startRunning()
  const ask = (isForAddress: boolean) => quoteFor(1_000n, { isForAddress, depositSeconds: 60 })
  const [open, atContract, atAddress] = [await ask(false), await ask(false), await ask(true)]
  const price = await quoteFor(1n, { isPrice: true })
  deposit(atContract)
  transfer(atAddress)
  await passHeld(2)
  const { inputAmount, outputAmount } = open.quote
  expect(solver.openQuotes().map(({ orderId, kind }) => [orderId, kind])).toEqual([
    [open.orderId, 'FIRM'],
    [price.orderId, 'INDICATIVE'],
  ])
  const [exposure] = solver.exposure()
  expect(exposure).toMatchObject({
    chainId: CHAIN_ID,
    openBond: open.bond + price.bond,
    orderBond: 2n * open.bond,
    freeBond: BOND - open.bond,
  })
  const nothing = { quotedOut: 0n, quotedIn: 0n, owedOut: 0n, owedIn: 0n }
  expect(exposure?.tokens.map(({ token, payable, ...flows }) => [token.toLowerCase(), flows])).toEqual([
    [WETH, { ...nothing, quotedIn: inputAmount, owedIn: 2n * inputAmount }],
    [USDC, { ...nothing, quotedOut: outputAmount, owedOut: 2n * outputAmount }],
    [FEE_TOKEN, nothing],
  ])
})
