import { getAbiItem, numberToHex, toFunctionSelector } from 'viem'
import { expect, it } from 'vitest'
import { settlementAbi } from '../../gen/contracts/settlement.js'
import type { Address } from '../../packages/protocol/src/values/hex.js'
import { RULES } from '../support/chain/chain.js'
import { deferred } from '../support/deferred.js'
import type { ModelContracts } from '../support/model-chain/model-contracts.js'
import type { KnownQuote } from './known-quotes.js'
import { startLyingInstance } from './lying-instance.js'
import { startRunning } from './running-solver.js'
import { BOND, FEE_TOKEN, SOLVER, USDC, USERS, WETH } from './world.js'

/** A tenth of the bond, nearly. */
const LARGE = 39_900n

const ADDED = 10_000_000000n

/** As the solver does while no process of the kit runs. */
function changeBond({ set, settlement }: ModelContracts, change: bigint): void {
  set(() => settlement.setBond(SOLVER, { totalBond: settlement.bondOf(SOLVER).totalBond + change }))
}

it('an output token that refuses its receiver costs half of the bond at most, and is then declined', async () => {
  const running = await startRunning('deployed')
  const { ask, deposit, refund, passBlocks, restartAfter, bond, errors, contracts } = running
  contracts.token(USDC).refuse(USERS[0])
  const taken: KnownQuote[] = []
  for (let round = 0; round < 40; round++) {
    const quote = await ask(30_000n)
    if (quote === undefined) break
    deposit(quote)
    taken.push(quote)
    await passBlocks(1)
  }
  expect(taken.length).toBeGreaterThan(1)
  await passBlocks(40)
  for (const quote of taken) refund('refund', quote)
  await passBlocks(3)
  expect(bond()).toBeLessThan(BOND)
  expect(bond() * 2n).toBeGreaterThanOrEqual(BOND)
  expect(await ask(1_000n)).toBeUndefined()
  expect(errors().join()).toContain('declined for an hour')
  await restartAfter(61, 60)
  // Who has it refused could do so again each hour.
  const wanted = { depositSeconds: 300, fillSeconds: 1_200 }
  expect(await ask(1_000n, wanted)).toBeUndefined()
  expect(await ask(1_000n, { ...wanted, user: USERS[1] as Address })).toBeDefined()
})

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

it.each(RULES)(
  'a quote whose input token fails for good is ended in time on the %s contract',
  async (rules) => {
    const { ask, passBlocks, contracts, solver, errors } = await startRunning(rules)
    expect(await ask(1_000n)).toBeDefined()
    contracts.token(WETH).refuse()
    // Past the middle of its fill window, and not past its end.
    await passBlocks(30)
    expect(solver.metrics().openQuotes).toBe(0)
    expect(errors().filter((error) => error.includes('balanceOf'))).toHaveLength(1)
  },
)

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

it.each(['between two looks', 'block by block', 'while no process runs'])(
  'a slash by a deposit address, %s, declines such quotes for a day and is reported once',
  async (when) => {
    const { ask, passBlocks, transfer, refund, restart, bond, errors, chain, passBeyond } =
      await startRunning('deployed')
    const asked = await ask(1_000n, { isForAddress: true })
    const known = asked as KnownQuote
    const { depositDeadline, fillDeadline } = known.quote
    const attack = () => {
      chain.mine(depositDeadline)
      transfer(known)
      chain.mine(fillDeadline + 1)
      refund('refundAddressDeposit', known)
      chain.mine(fillDeadline + 2)
    }
    if (when === 'between two looks') attack()
    else if (when === 'while no process runs') await restart(attack)
    else {
      while (chain.head().timestamp < depositDeadline) await passBlocks(1)
      transfer(known)
      await passBeyond(fillDeadline)
      refund('refundAddressDeposit', known)
    }
    await passBlocks(40)
    expect(bond()).toBeLessThan(BOND)
    expect(errors().filter((error) => error.includes('declined there for 24 hours'))).toHaveLength(1)
    expect(await ask(1_000n, { isForAddress: true })).toBeUndefined()
    expect(await ask(1_000n)).toBeDefined()
  },
)

it('an instance that reports the end of an order as removed does not repeat `onFilled`', async () => {
  const instance = await startLyingInstance()
  const filled: string[] = []
  const onFilled = ({ orderId }: { orderId: string }) => void filled.push(orderId)
  const running = await startRunning('reference', {}, { onFilled }, instance)
  const known = await running.quoteFor(1_000n)
  running.deposit(known)
  await running.passBlocks(4)
  expect(filled).toEqual([known.orderId])
  for (let count = 0; count < 5; count++) {
    await instance.report(known.orderId, known.quote.fillDeadline, 'Reverted')
    await running.passBlocks(2)
  }
  expect(filled).toEqual([known.orderId])
  instance.close()
})

it.each(RULES)(
  '`cancelAbove` leaves quotes open only where no refund releases the bond of others: %s contract',
  async (rules) => {
    const { quoteFor, passBlocks, isUnused } = await startRunning(rules, { cancelAbove: BOND / 100n })
    const known = await quoteFor(1_000n)
    await passBlocks(30)
    expect(isUnused(known)).toBe(rules === 'reference')
  },
)

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

it.each(['while it runs', 'while no process runs', 'and whose bond was replaced while no process runs'])(
  'each quote that was slashed %s is reported with what it has cost, and counted',
  async (when) => {
    const running = await startRunning()
    const { ask, passBlocks, slash, restart, bond, errors, chain, contracts, metrics } = running
    const asked = [await ask(LARGE), await ask(1_000n), await ask(LARGE)].flatMap((known) => known ?? [])
    const attack = () => {
      if (when.startsWith('and')) changeBond(contracts, ADDED)
      chain.mine((asked[0] as KnownQuote).quote.fillDeadline + 1)
      for (const known of asked) slash(known)
      chain.mine(chain.head().timestamp + 1)
    }
    if (when === 'while it runs') attack()
    else await restart(attack)
    await passBlocks(5)
    const lost = asked.map(({ quote }) => quote.outputAmount / 20n)
    expect(BOND - bond() + (when.startsWith('and') ? ADDED : 0n)).toBe(lost.reduce((sum, each) => sum + each))
    for (const [index, { orderId }] of asked.entries())
      expect(errors().filter((error) => error.includes(orderId))).toEqual([
        expect.stringContaining(`has cost ${lost[index]} units of the bond token`),
      ])
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

it('after a withdrawal of bond, a refund without a slash is not taken for one', async () => {
  const { ask, quoteFor, passBlocks, transfer, refund, contracts, metrics, passBeyond } =
    await startRunning('deployed')
  changeBond(contracts, -ADDED)
  const known = await quoteFor(100n, { isForAddress: true })
  transfer(known, (known.quote.inputAmount * 95n) / 100n)
  await passBeyond(known.quote.fillDeadline)
  refund('refundAddressDeposit', known)
  await passBlocks(35)
  expect([metrics().missed, metrics().openQuotes]).toEqual([0, 0])
  expect(await ask(100n, { isForAddress: true })).toBeDefined()
})

it('a node that hangs is reported once, and again only after it has answered', async () => {
  const { ask, passBlocks, node, errors } = await startRunning()
  const reports = () => errors().filter((error) => error.includes('does not answer'))
  for (const times of [1, 2]) {
    const { opened, open } = deferred()
    node.intercept((_asked, answer) => opened.then(() => answer()))
    await passBlocks(40)
    await ask(1_000n)
    await ask(1_000n)
    expect(reports()).toHaveLength(times)
    open()
    node.intercept((_asked, answer) => answer())
    await passBlocks(5)
    expect(await ask(1_000n)).toBeDefined()
  }
})
