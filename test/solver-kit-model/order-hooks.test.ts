import { getAddress, type Hex, keccak256, parseTransaction, type TransactionSerializedEIP1559 } from 'viem'
import { expect, it } from 'vitest'
import type { MinedTransaction } from '../../packages/solver/src/orders/order-terms.js'
import { CALLBACKS, type SolverOptions } from '../../packages/solver/src/solver-options.js'
import type { Rules } from '../support/chain/chain.js'
import { OrderState } from '../support/chain/signed-quote.js'
import { deferred } from '../support/deferred.js'
import { BASE_FEE, GAS, TIP } from '../support/model-chain/model-chain.js'
import type { KnownQuote } from './known-quotes.js'
import { startRunning } from './running-solver.js'
import { CHAIN_ID, SETTLEMENT, SOLVER, STRANGER, settlementCall, USDC, USERS, WETH } from './world.js'

/** A solver that runs, and what its market maker was told of orders and transactions. */
async function start(hooks: Partial<SolverOptions> = {}, rules: Rules = 'reference') {
  // biome-ignore lint/suspicious/noExplicitAny: what any hook gets
  const told: [what: string, order: any][] = []
  const mined = new Map<number, MinedTransaction>()
  const tell = (name: string) => (order: unknown) => void told.push([name.slice(2).toLowerCase(), order])
  const onTransaction = (transaction: MinedTransaction) => void mined.set(transaction.nonce, transaction)
  const telling = Object.fromEntries(CALLBACKS.map((name) => [name, tell(name)]))
  const running = await startRunning(rules, { confirmations: 20 }, { ...telling, onTransaction, ...hooks })
  return {
    ...running,
    told,
    mined,
    ask: (isForAddress = false) => running.quoteFor(1_000n, { isForAddress, depositSeconds: 60 }),
    names: () => told.map(([what]) => what),
    /** The missed orders, with what they cost. */
    missed: () => told.flatMap(([what, { orderId, cost }]) => (what === 'missed' ? [[orderId, cost]] : [])),
  }
}

it.each([false, true])(
  'a market maker hears of a deposit before its payment, and then of that: at an address %s',
  async (isForAddress) => {
    const { ask, deposit, transfer, passBlocks, passHeld, stateOf, isPaid, told, names } = await start()
    const known = await ask(isForAddress)
    const { depositDeadline, fillDeadline, inputAmount, outputAmount } = known.quote
    if (isForAddress) transfer(known)
    else deposit(known)
    await passHeld(2)
    expect([names(), stateOf(known) === OrderState.SETTLED]).toEqual([['quoted', 'deposit'], false])
    await passBlocks(4)
    expect(isPaid(known)).toBe(true)
    const terms = {
      orderId: known.orderId,
      user: getAddress(USERS[0] ?? '0x'),
      inputToken: getAddress(WETH),
      inputAmount,
      outputToken: getAddress(USDC),
      outputAmount,
      depositDeadline,
      fillDeadline,
      transactionHash: expect.stringMatching(/^0x\w{64}$/),
    }
    const [, deposited, filled] = told.map(([, order]) => order)
    expect(deposited).toMatchObject({ ...terms, deposit: isForAddress ? 'ADDRESS' : 'CONTRACT' })
    expect(filled).toMatchObject({ ...terms, gasUsed: expect.any(BigInt), gasCost: expect.any(BigInt) })
    expect(filled?.transactionHash).not.toBe(deposited?.transactionHash)
    expect(told).toHaveLength(3)
  },
)

it.each<[string, () => unknown]>([
  [
    'throw',
    () => {
      throw new Error('no hedge')
    },
  ],
  ['are rejected', () => Promise.reject(new Error('no hedge'))],
  ['never end', () => new Promise(() => {})],
])('hooks and a log that %s delay no payment', async (_, hook) => {
  const log = { debug: hook, info: hook, warn: hook, error: hook }
  const { ask, deposit, passBlocks, isPaid, errors, metrics, node } = await start({
    onDeposit: hook,
    onFilled: hook,
    log,
  })
  const known = await ask()
  deposit(known)
  // The log is asked to write an error, too.
  node.intercept(() => {
    node.intercept((_asked, answer) => answer())
    throw new Error('no hedge')
  })
  await passBlocks(4)
  expect(isPaid(known)).toBe(true)
  expect(metrics()).toMatchObject({ filled: 1, paymentsSent: 1, openOrders: 0 })
  expect(errors().every((error) => error === 'Error: no hedge')).toBe(true)
})

it('after a restart, a market maker hears again of deposits that are not paid, and of no others', async () => {
  const { ask, deposit, passBlocks, passHeld, restart, names } = await start()
  const paid = await ask()
  deposit(paid)
  await passBlocks(4)
  const waiting = await ask()
  deposit(waiting)
  await passHeld(2)
  const before = ['quoted', 'deposit', 'filled', 'quoted', 'deposit']
  expect(names()).toEqual(before)
  await restart(() => {})
  await passBlocks(4)
  expect(names().slice(0, 5)).toEqual(before)
  expect(names().filter((name) => name === 'filled')).toHaveLength(2)
})

it.each([false, true])(
  'a deposit that a reorganisation removes is taken back, after its payment: %s, and also while nothing runs',
  async (isFilled) => {
    const { ask, deposit, passBlocks, passHeld, chain, names, told, restart, metrics, errors } = await start()
    for (const isDown of [false, true]) {
      const known = await ask()
      deposit(known)
      await (isFilled ? passBlocks : passHeld)(3)
      const remove = () => chain.reorganise(4, chain.head().timestamp + 2, () => 'lost')
      if (isDown) await restart(remove)
      else remove()
      await passBlocks(4)
      const before = isFilled ? ['deposit', 'filled'] : ['deposit']
      expect(names()).toEqual(['quoted', ...before, 'depositremoved'])
      expect(told.splice(0).at(-1)?.[1]).toMatchObject({ orderId: known.orderId, inputAmount: 10n ** 18n })
      await passBlocks(40)
      expect(names()).toEqual(['cancelled'])
      // A payment is not sent again: it would revert.
      if (isFilled) expect(errors()).toEqual([])
      told.splice(0)
    }
    expect(metrics()).toMatchObject({ missed: 0, openQuotes: 0 })
  },
)

it('a trade is told as the chain has it, when a stranger has paid it and taken less', async () => {
  const { ask, transfer, chain, contracts, passBlocks, told } = await start({}, 'deployed')
  contracts.set(() => {
    contracts.token(USDC).mint(STRANGER, 10n ** 12n)
    contracts.token(USDC).approve(STRANGER, SETTLEMENT, 10n ** 12n)
  })
  const known = await ask(true)
  const { quote, signature, orderId } = known
  transfer(known)
  const accepted = quote.inputAmount - 5n
  const call = settlementCall('settleWithTolerance', [quote, signature, accepted])
  const transactionHash = chain.act(STRANGER, SETTLEMENT, call)
  await passBlocks(3)
  expect(told.map(([what]) => what)).toEqual(['quoted', 'filled'])
  const trade = { inputAmount: accepted, outputAmount: 0n, transactionHash, gasCost: undefined }
  expect(told.at(-1)?.[1]).toMatchObject({ orderId, ...trade })
})

it('a cancellation that a reorganisation removes is taken back, and what a stranger has settled then is told', async () => {
  const { ask, chain, cancelQuotes, transfer, passBlocks, passHeld, told, names, isUnused } = await start()
  const [kept, taken] = [await ask(), await ask()]
  const cancelling = cancelQuotes()
  await passBlocks(3)
  expect((await cancelling).map(({ outcome }) => outcome)).toEqual(['CANCELLED', 'CANCELLED'])
  expect(names()).toEqual(['quoted', 'quoted', 'cancelled', 'cancelled'])
  told.splice(0)
  transfer(taken)
  chain.act(STRANGER, SETTLEMENT, settlementCall('settle', [taken.quote, taken.signature]))
  chain.reorganise(4, chain.head().timestamp + 2, () => 'lost')
  await passHeld(2)
  expect(isUnused(kept)).toBe(true)
  const about = ({ orderId }: KnownQuote) =>
    told.filter(([, order]) => order.orderId === orderId).map(([what]) => what)
  expect(about(kept)).toEqual(['quoted'])
  await passBlocks(6)
  expect([about(kept), about(taken).at(-1)]).toEqual([['quoted', 'cancelled'], 'filled'])
})

it('each transaction is told with its purpose and cost, also after a reorganisation and a restart', async () => {
  const { ask, deposit, passBlocks, chain, mined, restart, cancelQuotes, metrics } = await start()
  const known = await ask()
  await ask()
  deposit(known)
  await passBlocks(4)
  cancelQuotes()
  await passBlocks(2)
  chain.setBaseFee(2n * BASE_FEE)
  await restart(() => chain.reorganise(3, chain.head().timestamp + 2, () => 'waiting'))
  await passBlocks(30)
  const isOwn = ({ from }: { from: string }) => from === SOLVER
  const own = chain.blocks.flatMap(({ receipts }) => receipts.map((each) => each.transaction).filter(isOwn))
  const gasCost = GAS * (2n * BASE_FEE + TIP)
  const told = own.map(({ nonce, hash }) => ({ nonce, hash, isReverted: false, gasCost }))
  expect([...mined.values()].toSorted((a, b) => a.nonce - b.nonce)).toMatchObject(told)
  const purposes = [...mined.values()].map(({ purpose, orderId }) => [purpose, orderId])
  expect(purposes).toContainEqual(['PAYMENT', known.orderId])
  expect(new Set(purposes.map(([purpose]) => purpose))).toEqual(
    new Set(['APPROVAL', 'PAYMENT', 'CANCELLATION']),
  )
  // What was seen before the restart counts there.
  const counted = Object.values(metrics().feesWei[CHAIN_ID] ?? {}).reduce((sum, wei) => sum + wei, 0)
  expect([counted > 0, counted < mined.size * Number(gasCost)]).toEqual([true, true])
})

type Started = Awaited<ReturnType<typeof start>>

/** Cancels the quote, and tokens come to its address before a block has that. @param isLost whether no block will have it */
async function payWhileCancelled(
  { node, cancelQuotes, passHeld, transfer }: Started,
  known: KnownQuote,
  isLost: boolean,
) {
  const cancellation = settlementCall('cancelNonce', [known.quote.nonce])
  node.intercept(({ method, params: [raw] = [] }, answer) => {
    if (!isLost || method !== 'eth_sendRawTransaction') return answer()
    const { data } = parseTransaction(raw as TransactionSerializedEIP1559)
    return data === cancellation ? keccak256(raw as Hex) : answer()
  })
  cancelQuotes().catch(() => {})
  await passHeld(1)
  transfer(known)
}

it.each<
  [string, isForAddress: boolean, happens: (started: Started, known: KnownQuote) => unknown, told: string]
>([
  [
    'tokens come while a cancellation is sent',
    false,
    (started, known) => payWhileCancelled(started, known, false),
    'quoted,cancelled',
  ],
  [
    'tokens come while a cancellation is lost',
    false,
    (started, known) => payWhileCancelled(started, known, true),
    'quoted,deposit,filled',
  ],
  [
    'its quote is cancelled after a deposit at the address was told',
    true,
    async ({ transfer, passHeld, chain }, known) => {
      transfer(known)
      await passHeld(2)
      chain.act(SOLVER, SETTLEMENT, settlementCall('cancelNonce', [known.quote.nonce]))
    },
    'quoted,deposit,depositremoved,cancelled',
  ],
  [
    'its payment is seen before the block that has it',
    false,
    async ({ deposit, passHeld, passBlocks, node, names }, known) => {
      deposit(known)
      await passHeld(2)
      const { opened, open } = deferred()
      node.intercept(({ method }, answer) =>
        method === 'eth_getLogs' ? opened.then(() => answer()) : answer(),
      )
      await passHeld(1)
      await passBlocks(1)
      expect(names()).toContain('filled')
      open()
    },
    'quoted,deposit,filled',
  ],
])('of an order, no more is told than is so when %s', async (_what, isForAddress, happens, told) => {
  const started = await start()
  const { ask, passHeld, passBlocks, passBeyond, names, metrics } = started
  await passBlocks(5)
  const known = await ask(isForAddress)
  await happens(started, known)
  await passHeld(3)
  await passBeyond(known.quote.fillDeadline)
  await passBlocks(6)
  expect([names().join(), metrics().missed]).toEqual([told, 0])
})

it('an order is missed when a second block is later than its fill deadline, however long none comes, at the cost of its refund', async () => {
  const { ask, deposit, passBlocks, pass, metrics, passBeyond, missed } = await start({
    mayFill: () => false,
  })
  const known = await ask()
  deposit(known)
  await passBeyond(known.quote.fillDeadline)
  await pass(150_000)
  expect([missed(), metrics().openOrders]).toEqual([[], 1])
  await passBlocks(1)
  await pass(10_000)
  expect([missed(), metrics().openOrders]).toEqual([[[known.orderId, known.bond]], 0])
})
