import { getAbiItem, numberToHex, toFunctionSelector } from 'viem'
import { expect, it } from 'vitest'
import { settlementAbi } from '../../gen/contracts/settlement.js'
import { deferred } from '../support/deferred.js'
import type { KnownQuote } from './known-quotes.js'
import { startRunning } from './running-solver.js'
import { BOND, FEE_TOKEN, USDC, USERS, WETH } from './world.js'

/** A tenth of the bond, nearly. */
const LARGE = 39_900n

it('a large order that is missed at the contract declines its output token, also when the input lay at the address first', async () => {
  const { ask, quoteFor, deposit, transfer, passBlocks, contracts, errors } = await startRunning('deployed')
  contracts.token(USDC).refuse(USERS[0])
  const taken = await quoteFor(10_000n)
  transfer(taken)
  await passBlocks(1)
  deposit(taken)
  await passBlocks(41)
  expect(await ask(1_000n)).toBeUndefined()
  expect(errors().join()).toContain('declined for an hour')
})

it('an order whose bond the contract has released cannot be filled, and the error names it', async () => {
  const { opened: released, open: release } = deferred()
  const mayFill = () => released.then(() => true)
  const { quoteFor, deposit, slash, passBlocks, chain, errors } = await startRunning(
    'deployed',
    {},
    { mayFill },
  )
  const other = await quoteFor(1_000n, { isForAddress: true })
  const known = await quoteFor(1_000n, { depositSeconds: 600 })
  deposit(known)
  await passBlocks(2)
  // Before the solver sees that it may cancel the other one.
  chain.mine(other.quote.fillDeadline + 1)
  slash(other)
  chain.mine(other.quote.fillDeadline + 2)
  release()
  await passBlocks(4)
  expect(errors().join()).toContain(
    `order ${known.orderId} cannot be filled: the contract has released the bond that was reserved for it (Panic 17)`,
  )
})

it('a token that fails keeps neither the ends of quotes nor other pairs, and is reported once', async () => {
  const { ask, passBlocks, contracts, solver, errors } = await startRunning()
  const first = await ask(1_000n)
  contracts.token(FEE_TOKEN).refuse()
  await passBlocks(30)
  expect(first).toBeDefined()
  expect(solver.metrics().openQuotes).toBe(0)
  expect(await ask(1_000n)).toBeDefined()
  expect(errors().filter((error) => error.includes(FEE_TOKEN))).toHaveLength(1)
})

it('a quote whose input token fails for good is ended in time', async () => {
  const { ask, passBlocks, contracts, solver, errors } = await startRunning()
  expect(await ask(1_000n)).toBeDefined()
  contracts.token(WETH).refuse()
  // Past the middle of its fill window, and not past its end.
  await passBlocks(30)
  expect(solver.metrics().openQuotes).toBe(0)
  expect(errors().filter((error) => error.includes('balanceOf'))).toHaveLength(1)
})

it('transfers of nothing to deposit addresses make no orders', async () => {
  const { ask, passBlocks, transfer, isPaid, solver } = await startRunning()
  const asked = (await Promise.all(Array.from({ length: 3 }, () => ask(1_000n)))).flatMap(
    (known) => known ?? [],
  )
  const [paid, ...others] = asked as [KnownQuote, ...KnownQuote[]]
  for (const known of others) transfer(known, 0n)
  for (const known of others) transfer(known, 1n)
  await passBlocks(3)
  expect(solver.metrics().openOrders).toBe(0)
  transfer(paid)
  await passBlocks(3)
  expect(isPaid(paid)).toBe(true)
})

it('a quote whose `settle` needs more than `maxGas` is cancelled', async () => {
  const settle = toFunctionSelector(getAbiItem({ abi: settlementAbi, name: 'settle' }))
  const needed = 1_200_000n
  const { quoteFor, transfer, refund, passBlocks, isUnused, bond, node } = await startRunning()
  node.intercept(async ({ method, params = [] }, answer) => {
    const { data, gas } = Object(params[0])
    if (!['eth_call', 'eth_estimateGas'].includes(method) || !data.startsWith(settle)) return answer()
    if (BigInt(gas ?? needed) < needed) throw new Error('out of gas')
    return method === 'eth_call' ? answer() : numberToHex(needed)
  })
  const known = await quoteFor(LARGE)
  transfer(known)
  await passBlocks(35)
  expect(isUnused(known)).toBe(false)
  refund('refundAddressDeposit', known)
  await passBlocks(2)
  expect(bond()).toBe(BOND)
})

it.each(['while it runs', 'while no process runs'])(
  'each quote that was slashed %s is reported with what it has cost, and counted',
  async (when) => {
    const { quoteFor, passBlocks, slash, restart, errors, chain, metrics } = await startRunning()
    const asked = [
      await quoteFor(LARGE),
      await quoteFor(1_000n),
      await quoteFor(1_000n, { isForAddress: true }),
    ]
    const attack = () => {
      chain.mine((asked[0] as KnownQuote).quote.fillDeadline + 1)
      for (const known of asked) slash(known)
      chain.mine(chain.head().timestamp + 1)
    }
    if (when === 'while it runs') attack()
    else await restart(attack)
    await passBlocks(5)
    for (const { orderId, quote, isForAddress } of asked) {
      const then = isForAddress ? ': quotes for deposit addresses are declined there for 24 hours' : ''
      const words = `has cost ${quote.outputAmount / 20n} units of the bond token${then}`
      expect(errors().filter((error) => error.includes(orderId))).toEqual([
        expect.stringMatching(`${words}$`),
      ])
    }
    expect(metrics().missed).toBe(3)
  },
)

it('a slash by any of the prices that share a nonce is counted and reported', async () => {
  const { quoteFor, passBlocks, slash, errors, chain, metrics } = await startRunning()
  const small = await quoteFor(1_000n, { isPrice: true, depositSeconds: 10 })
  const large = await quoteFor(39_000n, { isPrice: true, depositSeconds: 12 })
  expect(large.quote.nonce).toBe(small.quote.nonce)
  chain.mine(large.quote.fillDeadline + 1)
  slash(large)
  await passBlocks(5)
  expect(metrics().missed).toBe(1)
  expect(errors().join('\n')).toContain(
    `order ${large.orderId} on chain 31337 was not paid by its fill deadline, and has cost`,
  )
})
