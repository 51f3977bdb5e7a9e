import { type Hex, parseTransaction, type TransactionSerializedEIP1559 } from 'viem'
import { afterEach, expect, it, vi } from 'vitest'
import { Revert } from '../support/model-chain/journal.js'
import { GAS } from '../support/model-chain/model-chain.js'
import { startRunning } from './running-solver.js'
import { BOND, SOLVER } from './world.js'

// Answers of a node in another shape than the usual one (docs/decisions.md, D22).

afterEach(() => void vi.restoreAllMocks())

type Answer = Readonly<Record<string, unknown>>
type Shape = (answer: Answer) => unknown

const LONG = { fillSeconds: 600 }

it.each([0.3, 0.6, 0.8])('a node that estimates %d of the gas costs no bond', async (part) => {
  const running = await startRunning()
  const { quoteFor, deposit, contracts, node, passBlocks, isPaid, metrics, isUnused, bond } = running
  const sent: bigint[] = []
  const { transact } = contracts
  vi.spyOn(contracts, 'transact').mockImplementation((context, to, data) => {
    if (context.sender === SOLVER && (sent.at(-1) ?? 0n) < GAS) throw new Revert('')
    return transact(context, to, data)
  })
  node.intercept(({ method, params = [] }, answer) => {
    if (method === 'eth_estimateGas') return `0x${Math.floor(Number(GAS) * part).toString(16)}`
    if (method === 'eth_sendRawTransaction')
      sent.push(parseTransaction(params[0] as TransactionSerializedEIP1559).gas ?? 0n)
    return answer()
  })
  const [taken, untaken] = [await quoteFor(1_000n, LONG), await quoteFor(1_000n, LONG)]
  deposit(taken)
  await passBlocks(60)
  expect([isPaid(taken), isUnused(untaken), bond(), metrics().filled]).toEqual([true, false, BOND, 1])
  expect(sent.every((gas) => gas <= 1_000_000n)).toBe(true)
})

it.each<[string, Shape]>([
  ['no price of gas', ({ effectiveGasPrice: _, ...receipt }) => receipt],
  ['null as the price of gas', (receipt) => ({ ...receipt, effectiveGasPrice: null })],
  ['a price of gas that is no number', (receipt) => ({ ...receipt, effectiveGasPrice: '0xNaN' })],
  ['no used gas', ({ gasUsed: _, ...receipt }) => receipt],
  ['a padded status', (receipt) => ({ ...receipt, status: '0x01' })],
  ['no status', ({ status: _, ...receipt }) => receipt],
  ['no logs and no place', ({ status, gasUsed }) => ({ status, gasUsed })],
])('an order ends, and a quote is cancelled, when receipts have %s', async (_what, shape) => {
  const { quoteFor, deposit, node, passBlocks, metrics, isUnused, errors } = await startRunning()
  node.intercept(({ method }, answer) => {
    const receipt = answer() as Answer | null
    return method === 'eth_getTransactionReceipt' && receipt ? shape(receipt) : receipt
  })
  const [taken, untaken] = [await quoteFor(1_000n, LONG), await quoteFor(1_000n, LONG)]
  deposit(taken)
  await passBlocks(4)
  expect([metrics().filled, errors()]).toEqual([1, []])
  await passBlocks(20)
  expect([isUnused(untaken), errors()]).toEqual([false, []])
})

const withTime =
  (change: (seconds: number) => number): Shape =>
  (block) => ({
    ...block,
    timestamp: `0x${change(Number(block.timestamp)).toString(16)}`,
  })

it.each<[string, number, Shape]>([
  ['in milliseconds', 3, withTime((seconds) => seconds * 1000)],
  ['of another chain', 1, withTime((seconds) => seconds + 3600)],
  ['that is some minutes late', 1, withTime((seconds) => seconds + 200)],
  ['that is missing', 3, (block) => ({ ...block, timestamp: null })],
])('an order is paid although a look has shown a time %s', async (_what, blocks, shape) => {
  const { quoteFor, deposit, node, passBlocks, isPaid, metrics } = await startRunning()
  const known = await quoteFor(1_000n, { fillSeconds: 120 })
  let isOdd = false
  let isHeld = true
  node.intercept(({ method }, answer) => {
    // Its payment waits for an estimate.
    if (isHeld && method === 'eth_estimateGas') throw new Error('header not found')
    const isBlock = isOdd && method.startsWith('eth_getBlockBy')
    return isBlock ? shape(answer() as Answer) : answer()
  })
  deposit(known)
  await passBlocks(1)
  isOdd = true
  await passBlocks(blocks)
  isOdd = false
  isHeld = false
  await passBlocks(20)
  expect([isPaid(known), metrics().missed]).toEqual([true, 0])
})

it('a block without a number or a time does not make it read the chain from its beginning', async () => {
  const { node, passBlocks } = await startRunning()
  await passBlocks(160)
  let isOdd = true
  const firsts: number[] = []
  node.intercept(({ method, params = [] }, answer) => {
    if (method === 'eth_getLogs') firsts.push(Number((params[0] as { fromBlock: Hex }).fromBlock))
    return isOdd && method.startsWith('eth_getBlockBy') ? { ...(answer() as object), number: null } : answer()
  })
  await passBlocks(2)
  isOdd = false
  await passBlocks(3)
  expect(Math.min(...firsts)).toBeGreaterThan(50)
})
