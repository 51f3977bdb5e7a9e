import { numberToHex } from 'viem'
import { expect, it } from 'vitest'
import type { Address } from '../../packages/protocol/src/values/hex.js'
import type { Rules } from '../support/chain/chain.js'
import { OrderState } from '../support/chain/signed-quote.js'
import { deferred } from '../support/deferred.js'
import { WETH_UNIT } from '../support/solver-kit/fixed-price.js'
import type { KnownQuote } from './known-quotes.js'
import { startRunning } from './running-solver.js'
import { FEE_TOKEN, WETH } from './world.js'

/** What a market maker is asked before an order is paid: `mayFill`, and `acceptLess` when less input has arrived than was quoted. */

it('a `mayFill` that never answers hides no missed order, and holds none of the bond for ever', async () => {
  const { quoteFor, deposit, passBlocks, refund, metrics, passBeyond } = await startRunning(
    'reference',
    { pollIntervalMs: 1_000 },
    { mayFill: () => new Promise(() => {}) },
  )
  const known = await quoteFor(1_000n)
  deposit(known)
  await passBeyond(known.quote.fillDeadline + 4)
  refund('refund', known)
  await passBlocks(10)
  expect(metrics()).toMatchObject({ missed: 1, openOrders: 0, openQuotes: 0, paymentsSent: 0 })
})

it.each<[string, (calls: number) => boolean | Promise<boolean>]>([
  ['throws', (calls) => (calls > 1 ? true : Promise.reject(new Error('no hedge')))],
  ['never answers before a crash', (calls) => (calls > 1 ? true : new Promise(() => {}))],
])('a `mayFill` that %s is asked again while the order can be paid', async (how, answer) => {
  let calls = 0
  const mayFill = () => answer(++calls)
  const running = await startRunning('deployed', { pollIntervalMs: 1_000 }, { mayFill })
  const { quoteFor, deposit, passBlocks, restart, stateOf, metrics } = running
  const known = await quoteFor(1_000n)
  deposit(known)
  await passBlocks(2)
  if (how.includes('crash')) await restart(() => {})
  await passBlocks(8)
  expect([stateOf(known), metrics().openOrders, calls]).toEqual([OrderState.SETTLED, 0, 2])
})

it('an answer of `mayFill` counts for the deposit that it was asked about, however late it comes', async () => {
  const answers: ((isWanted: boolean) => void)[] = []
  const mayFill = () => new Promise<boolean>((resolve) => answers.push(resolve))
  const running = await startRunning('reference', { confirmations: 20 }, { mayFill })
  const { quoteFor, deposit, transfer, passBlocks, isPaid, metrics, chain } = running
  const known = await quoteFor(1_000n, { isForAddress: true, depositSeconds: 60 })
  transfer(known)
  await passBlocks(2)
  chain.reorganise(3, chain.head().timestamp + 2, () => 'lost')
  await passBlocks(2)
  deposit(known)
  await passBlocks(2)
  expect(answers).toHaveLength(2)
  answers[0]?.(true)
  await passBlocks(3)
  expect(metrics().paymentsSent).toBe(0)
  answers[1]?.(true)
  await passBlocks(4)
  expect(isPaid(known)).toBe(true)
})

it('an order that `mayFill` does not want is asked for once, told, and ended at its address', async () => {
  const asked: string[] = []
  const running = await startRunning(
    'reference',
    { pollIntervalMs: 1_000 },
    { mayFill: ({ orderId, deposit: place }) => asked.push(`${orderId} ${place}`) === 0 },
  )
  const { quoteFor, transfer, passBlocks, errors, isUnused, metrics } = running
  const known = await quoteFor(1_000n)
  transfer(known)
  await passBlocks(10)
  expect(asked).toEqual([`${known.orderId} ADDRESS`])
  expect(errors().join()).toContain(`order ${known.orderId} is not wanted, and is not paid`)
  expect([isUnused(known), metrics().paymentsSent]).toEqual([false, 0])
})

it('a yes to an order does not count when the node shows less of its input later', async () => {
  const arrived = (WETH_UNIT * 99n) / 100n
  const asked: unknown[] = []
  const { opened: agreed, open: agree } = deferred()
  const running = await startRunning(
    'deployed',
    {},
    {
      mayFill: (order) => agreed.then(() => asked.push(order.inputAmount) > 0),
      acceptLess: ({ inputAmount }) => asked.push(inputAmount) === 0,
    },
  )
  const { quoteFor, deposit, passBlocks, stateOf, metrics, node } = running
  const known = await quoteFor(1_000n, { inputToken: FEE_TOKEN })
  const word = (amount: bigint) => numberToHex(amount, { size: 32 }).slice(2)
  let isWrong = true
  node.intercept(async (_call, answer) => {
    const given = await answer()
    return isWrong && typeof given === 'string' ? given.replace(word(arrived), word(WETH_UNIT)) : given
  })
  deposit(known)
  await passBlocks(4)
  isWrong = false
  agree()
  await passBlocks(4)
  expect(asked).toEqual([WETH_UNIT, arrived])
  expect([stateOf(known), metrics().paymentsSent]).toEqual([OrderState.DEPOSITED, 0])
})

it('an answer of `acceptLess` that takes long holds up no other order', async () => {
  const { opened: accepted, open: accept } = deferred()
  const acceptLess = () => accepted.then(() => true)
  const running = await startRunning('deployed', { maxPayments: 1 }, { acceptLess })
  const { ask, deposit, passBlocks, stateOf, errors } = running
  const [short, full] = [await ask(1_000n, { inputToken: FEE_TOKEN }), await ask(1_000n)] as KnownQuote[]
  for (const known of [short, full]) deposit(known as KnownQuote)
  await passBlocks(6)
  expect([stateOf(short as KnownQuote), stateOf(full as KnownQuote)]).toEqual([
    OrderState.DEPOSITED,
    OrderState.SETTLED,
  ])
  accept()
  await passBlocks(6)
  expect([stateOf(short as KnownQuote), errors()]).toEqual([OrderState.SETTLED, []])
})

/** Without a file, a restart loses all quotes. `acceptLess` has no say in quotes that are not known. */
const FORGETFUL = { stateFile: undefined, acceptLess: () => true }

const reportsOf = (known: KnownQuote, errors: readonly string[]) =>
  errors.filter((error) => error.includes(`order ${known.orderId} has`))

it.each<[string, Rules, Address, number, bigint?]>([
  ['is paid when all has arrived that the event says', 'reference', WETH, OrderState.SETTLED],
  [
    'is reported and not paid when less has arrived than the event says',
    'deployed',
    FEE_TOKEN,
    OrderState.DEPOSITED,
    (WETH_UNIT * 99n) / 100n,
  ],
])('an order whose quote the kit has lost %s', async (_title, rules, inputToken, state, arrived) => {
  const { quoteFor, deposit, restart, passBlocks, stateOf, errors } = await startRunning(rules, {}, FORGETFUL)
  const known = await quoteFor(1_000n, { inputToken })
  await restart(() => void deposit(known))
  await passBlocks(5)
  expect(stateOf(known)).toBe(state)
  const words = `Error: order ${known.orderId} has ${arrived} of the input of ${WETH_UNIT}, and is not paid`
  expect(reportsOf(known, errors())).toEqual(arrived === undefined ? [] : [words])
})
