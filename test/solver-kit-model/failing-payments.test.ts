import { type Hex, keccak256, parseTransaction, type TransactionSerializedEIP1559 } from 'viem'
import { afterEach, expect, it, vi } from 'vitest'
import { OrderState } from '../support/chain/signed-quote.js'
import { Revert } from '../support/model-chain/journal.js'
import { startRunning } from './running-solver.js'
import { BOND, SOLVER, settlementCall } from './world.js'

const CANCEL = settlementCall('cancelNonce', [0n]).slice(0, 10)

afterEach(() => void vi.restoreAllMocks())

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

it.each(['fill', 'settle'])(
  'a payment by `%s` that reverts only in blocks is sent a few times, and its quote costs no more than it must',
  async (call) => {
    const { quoteFor, deposit, transfer, refund, passBlocks, contracts, chain, bond, errors } =
      await startRunning()
    const known = await quoteFor(1_000n, { fillSeconds: 600 })
    const { transact } = contracts
    vi.spyOn(contracts, 'transact').mockImplementation((context, to, data) => {
      if (context.sender === SOLVER && !data.startsWith(CANCEL)) throw new Revert('')
      return transact(context, to, data)
    })
    if (call === 'fill') deposit(known)
    else transfer(known)
    const before = chain.countOf(SOLVER)
    while (chain.head().timestamp < known.quote.fillDeadline) await passBlocks(1, 6)
    // The last one cancels the quote.
    expect(chain.countOf(SOLVER) - before).toBe(call === 'fill' ? 5 : 6)
    expect(errors().filter((error) => error.includes('is not sent any more'))).toHaveLength(1)
    refund(call === 'fill' ? 'refund' : 'refundAddressDeposit', known)
    await passBlocks(2)
    expect(bond() === BOND).toBe(call === 'settle')
  },
)
