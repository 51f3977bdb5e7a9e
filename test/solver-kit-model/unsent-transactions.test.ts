import { type Hex, keccak256, parseTransaction, type TransactionSerializedEIP1559 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, it } from 'vitest'
import { devAccounts } from '../../packages/cli/src/devnet/deploy.js'
import { OrderState } from '../support/model-chain/settlement-state.js'
import { keyOf } from '../support/solver-kit/market.js'
import type { KnownQuote } from './known-quotes.js'
import { startRunning } from './running-solver.js'
import { BOND, SOLVER } from './world.js'

const [, maker = devAccounts[0]] = devAccounts
const { address, signMessage, signTypedData, signTransaction } = privateKeyToAccount(keyOf(maker))
const GWEI = 1_000_000_000n

it.each(['after they are over', 'by deposits'])(
  'an account that signs quotes and no transactions costs half of the bond, however often a stranger takes them again %s',
  async (how) => {
    const isDeposited = how === 'by deposits'
    let isDown = false
    const sign: typeof signTransaction = (...asked) =>
      isDown ? Promise.reject(new Error('denied')) : signTransaction(...asked)
    const account = { address, signMessage, signTypedData, signTransaction: sign }
    const running = await startRunning('reference', { pollIntervalMs: 1_000 }, { account })
    const { ask, deposit, passBlocks, isUnused, slash, refund, bond, restart } = running
    await passBlocks(20)
    isDown = true
    const slashSome = async () => {
      const signed: KnownQuote[] = []
      const milli = (bond() * 39_900n) / BOND
      for (let count = 0; count < 6; count++) {
        const known = await ask(milli, { depositSeconds: 4 })
        if (known !== undefined) signed.push(known)
      }
      if (isDeposited) signed.forEach(deposit)
      await passBlocks(42)
      for (const known of signed) {
        if (isDeposited) refund('refund', known)
        else if (isUnused(known)) slash(known)
      }
      await passBlocks(3)
      return signed.length
    }
    expect(await slashSome()).toBeGreaterThan(0)
    for (let round = 0; round < 4; round++) {
      // A start forgets which tokens and users missed orders were of.
      if (isDeposited) await restart(() => {})
      await slashSome()
    }
    isDown = false
    await restart(() => {})
    expect(await slashSome()).toBe(0)
    expect(bond()).toBeGreaterThanOrEqual(BOND / 2n)
  },
)

it('nothing is signed while the base fee may rise above `maxFeePerGas`, and again when it has fallen', async () => {
  const { ask, passBlocks, chain, errors } = await startRunning('reference', {
    pollIntervalMs: 1_000,
    maxFeePerGas: 8n * GWEI,
  })
  const isSigned = async () => (await ask(1_000n)) !== undefined
  const signed = [await isSigned()]
  for (const baseFee of [5n, 1n]) {
    chain.setBaseFee(baseFee * GWEI)
    await passBlocks(30)
    signed.push(await isSigned())
  }
  expect(signed).toEqual([true, false, true])
  expect(errors().join()).toContain('maxFeePerGas is below what a transaction needs')
})

it.each([
  ['a payment that the node refuses', 'fill', false],
  ['a payment that the node takes and no block has', 'fill', true],
  ['a cancellation that the node takes and no block has', 'cancel', true],
])('%s holds up no other one for ever, and uses its nonce in the end', async (_what, purpose, isTaken) => {
  const running = await startRunning('reference', { pollIntervalMs: 1_000 })
  const { quoteFor, deposit, passBlocks, stateOf, isPaid, isUnused, node, chain, metrics } = running
  await passBlocks(5)
  const never = await quoteFor(1_000n)
  const id = purpose === 'fill' ? never.orderId.slice(2) : never.quote.nonce.toString(16)
  let isHeld = true
  const waiting = new Set<unknown>()
  node.intercept(({ method, params: [raw] = [] }, answer) => {
    if (method === 'eth_getTransactionByHash' && waiting.has(raw)) return { hash: raw }
    const isNever = isHeld && method === 'eth_sendRawTransaction'
    if (!isNever || !parseTransaction(raw as TransactionSerializedEIP1559).data?.includes(id)) return answer()
    if (!isTaken) throw new Error('this transaction is not allowed')
    waiting.add(keccak256(raw as Hex))
    return keccak256(raw as Hex)
  })
  if (purpose === 'fill') deposit(never)
  await passBlocks(8)
  const other = await quoteFor(1_000n)
  deposit(other)
  await passBlocks(28)
  expect(isPaid(other)).toBe(true)
  if (purpose === 'fill') expect(stateOf(never)).toBe(OrderState.DEPOSITED)
  isHeld = false
  await passBlocks(90)
  expect([isUnused(never), metrics().openOrders, chain.pendingCount()]).toEqual([
    false,
    0,
    chain.countOf(SOLVER),
  ])
})

it('fees do not rise while no block comes', async () => {
  const { quoteFor, deposit, passBlocks, isPaid, metrics, pass, chain } = await startRunning('reference', {
    pollIntervalMs: 1_000,
  })
  await passBlocks(5)
  const known = await quoteFor(1_000n, { depositSeconds: 2_000, fillSeconds: 1_500 })
  deposit(known)
  chain.mine(chain.head().timestamp + 2, { holdsSigned: true })
  await pass(600_000)
  expect(metrics().feesRaised).toBe(0)
  await passBlocks(3)
  expect(isPaid(known)).toBe(true)
})
