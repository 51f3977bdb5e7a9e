import { getAddress, type Hex, keccak256, parseTransaction, type TransactionSerializedEIP1559 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, it } from 'vitest'
import { devAccounts } from '../../packages/cli/src/devnet/deploy.js'
import type { MinedTransaction } from '../../packages/solver/src/orders/order-terms.js'
import { CALLBACKS, type SolverOptions } from '../../packages/solver/src/solver-options.js'
import type { Rules } from '../support/chain/chain.js'
import { deferred } from '../support/deferred.js'
import { BASE_FEE, GAS, TIP } from '../support/model-chain/model-chain.js'
import { OrderState } from '../support/model-chain/settlement-state.js'
import { keyOf } from '../support/solver-kit/market.js'
import type { KnownQuote } from './known-quotes.js'
import { startRunning } from './running-solver.js'
import {
  BOND,
  CHAIN_ID,
  FEE_TOKEN,
  SETTLEMENT,
  SOLVER,
  STRANGER,
  settlementCall,
  USDC,
  USERS,
  WETH,
} from './world.js'

/** A solver that runs, and what its market maker was told of orders and transactions. */
async function start(hooks: Partial<SolverOptions> = {}, rules: Rules = 'reference') {
  // biome-ignore lint/suspicious/noExplicitAny: what any hook gets
  const told: [what: string, order: any][] = []
  const mined = new Map<number, MinedTransaction>()
  const telling = CALLBACKS.map((name) => [name, (order: unknown) => void told.push([wordOf(name), order])])
  const running = await startRunning(
    rules,
    { confirmations: 20 },
    {
      ...Object.fromEntries(telling),
      onTransaction: (transaction) => void mined.set(transaction.nonce, transaction),
      ...hooks,
    },
  )
  const ask = async (isForAddress = false) =>
    await running.quoteFor(1_000n, { isForAddress, depositSeconds: 60 })
  const names = () => told.map(([what]) => what)
  const askPrice = async () => await running.quoteFor(1n, { isPrice: true })
  return { ...running, told, mined, ask, askPrice, names }
}

const wordOf = (hook: string) => hook.slice(2).toLowerCase()

it.each([false, true])(
  'a market maker hears of a deposit before its payment, and then of that: at an address %s',
  async (isForAddress) => {
    const { ask, deposit, transfer, passBlocks, stateOf, isPaid, told, names } = await start()
    const known = await ask(isForAddress)
    const { depositDeadline, fillDeadline, inputAmount, outputAmount } = known.quote
    if (isForAddress) transfer(known)
    else deposit(known)
    await passBlocks(2, 2, { holdsSigned: true })
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
  const call = () => hook() as never
  const log = { debug: call, info: call, warn: call, error: call }
  const { ask, deposit, passBlocks, isPaid, errors, metrics, node } = await start({
    onDeposit: call,
    onFilled: call,
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
  const { ask, deposit, passBlocks, restart, names } = await start()
  const paid = await ask()
  deposit(paid)
  await passBlocks(4)
  const waiting = await ask()
  deposit(waiting)
  await passBlocks(2, 2, { holdsSigned: true })
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
    const { ask, deposit, passBlocks, chain, names, told, restart, metrics } = await start()
    for (const isDown of [false, true]) {
      const known = await ask()
      deposit(known)
      await passBlocks(3, 2, { holdsSigned: !isFilled })
      const remove = () => chain.reorganise(4, chain.head().timestamp + 2, () => 'lost')
      if (isDown) await restart(remove)
      else remove()
      await passBlocks(4)
      const before = isFilled ? ['deposit', 'filled'] : ['deposit']
      expect(names()).toEqual(['quoted', ...before, 'depositremoved'])
      expect(told.splice(0).at(-1)?.[1]).toMatchObject({ orderId: known.orderId, inputAmount: 10n ** 18n })
      await passBlocks(40)
      expect(names()).toEqual(['cancelled'])
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

it('a missed order is told with its cost, and so is a quote that is slashed', async () => {
  const { ask, deposit, passBlocks, slash, chain, told, names, refund, bond } = await start()
  const [known, untaken] = [await ask(), await ask()]
  deposit(known)
  while (chain.head().timestamp <= known.quote.fillDeadline + 70)
    await passBlocks(1, 2, { holdsSigned: true })
  refund('refund', known)
  slash(untaken)
  const before = bond()
  await passBlocks(1, 2, { holdsSigned: true })
  await passBlocks(6)
  expect(names().filter((name) => name !== 'quoted')).toEqual(['deposit', 'missed', 'missed'])
  const missed = told.filter(([what]) => what === 'missed').map(([, { orderId, cost }]) => [orderId, cost])
  expect(missed).toEqual([known, untaken].map(({ orderId, bond: cost }) => [orderId, cost]))
  expect(before - bond()).toBe(known.bond + untaken.bond)
})

it('a cancellation that a reorganisation removes is taken back, and what a stranger has settled then is told', async () => {
  const { ask, chain, cancelQuotes, transfer, passBlocks, told, names, isUnused } = await start()
  const [kept, taken] = [await ask(), await ask()]
  const cancelling = cancelQuotes()
  await passBlocks(3)
  expect((await cancelling).map(({ outcome }) => outcome)).toEqual(['CANCELLED', 'CANCELLED'])
  expect(names()).toEqual(['quoted', 'quoted', 'cancelled', 'cancelled'])
  told.splice(0)
  transfer(taken)
  chain.act(STRANGER, SETTLEMENT, settlementCall('settle', [taken.quote, taken.signature]))
  chain.reorganise(4, chain.head().timestamp + 2, () => 'lost')
  await passBlocks(2, 2, { holdsSigned: true })
  expect(isUnused(kept)).toBe(true)
  const about = ({ orderId }: KnownQuote) =>
    told.filter(([, order]) => order.orderId === orderId).map(([what]) => what)
  expect(about(kept)).toEqual(['quoted'])
  await passBlocks(6)
  expect([about(kept), about(taken).at(-1)]).toEqual([['quoted', 'cancelled'], 'filled'])
})

it.each<[string, boolean, (string | number)[]]>([
  ['is mined later', true, [OrderState.NONE, 0, 'quoted', 'cancelled']],
  ['is never mined', false, [OrderState.SETTLED, 0, 'quoted', 'deposit', 'filled']],
])(
  'tokens that come to an address while a cancellation is under way, which %s',
  async (_what, isMined, wanted) => {
    const { ask, transfer, cancelQuotes, passBlocks, node, names, metrics, stateOf, passBeyond } =
      await start()
    await passBlocks(5)
    const known = await ask()
    const cancellation = settlementCall('cancelNonce', [known.quote.nonce])
    node.intercept(({ method, params: [raw] = [] }, answer) => {
      if (isMined || method !== 'eth_sendRawTransaction') return answer()
      const { data } = parseTransaction(raw as TransactionSerializedEIP1559)
      return data === cancellation ? keccak256(raw as Hex) : answer()
    })
    cancelQuotes().catch(() => {})
    await passBlocks(1, 2, { holdsSigned: true })
    transfer(known)
    await passBlocks(3, 2, { holdsSigned: true })
    await passBeyond(known.quote.fillDeadline)
    await passBlocks(3)
    expect([stateOf(known), metrics().missed, ...names()]).toEqual(wanted)
  },
)

it('a deposit at an address whose quote is cancelled after it was told leaves no hedge open', async () => {
  const { ask, chain, transfer, passBlocks, names, passBeyond } = await start()
  const known = await ask(true)
  transfer(known)
  await passBlocks(2, 2, { holdsSigned: true })
  expect(names()).toEqual(['quoted', 'deposit'])
  chain.act(SOLVER, SETTLEMENT, settlementCall('cancelNonce', [known.quote.nonce]))
  await passBlocks(1, 2, { holdsSigned: true })
  await passBeyond(known.quote.fillDeadline)
  await passBlocks(6)
  expect(names()).toEqual(['quoted', 'deposit', 'depositremoved', 'cancelled'])
})

it('what is promised and owed is told at any time', async () => {
  const { ask, deposit, transfer, passBlocks, solver, askPrice } = await start()
  const [open, atContract, atAddress] = [await ask(), await ask(), await ask(true)]
  const price = await askPrice()
  deposit(atContract)
  transfer(atAddress)
  await passBlocks(2, 2, { holdsSigned: true })
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

it('each transaction is told with its purpose and cost, also after a reorganisation and a restart', async () => {
  const { ask, deposit, passBlocks, chain, mined, restart, cancelQuotes, metrics } = await start()
  const known = await ask()
  await ask()
  deposit(known)
  await passBlocks(4)
  const cancelling = cancelQuotes()
  await passBlocks(2)
  await cancelling
  chain.setBaseFee(2n * BASE_FEE)
  await restart(() => chain.reorganise(3, chain.head().timestamp + 2, () => 'waiting'))
  await passBlocks(30)
  const own = chain.blocks.flatMap(({ receipts }) =>
    receipts.filter(({ transaction }) => transaction.from === SOLVER),
  )
  expect(own.length).toBe(mined.size)
  for (const { transaction } of own)
    expect(mined.get(transaction.nonce)).toMatchObject({
      hash: transaction.hash,
      isReverted: false,
      gasCost: GAS * (2n * BASE_FEE + TIP),
    })
  const fees = metrics().feesWei[CHAIN_ID] ?? {}
  const [told, counted] = [[...mined.values()].map(({ gasCost }) => Number(gasCost)), Object.values(fees)]
  const total = (list: number[]) => list.reduce((sum, wei) => sum + wei, 0)
  // What was seen before the restart counts there.
  expect([total(counted) > 0, total(counted) < total(told)]).toEqual([true, true])
  const purposes = [...mined.values()].map(({ purpose, orderId }) => [purpose, orderId])
  expect(purposes).toContainEqual(['PAYMENT', known.orderId])
  expect(new Set(purposes.map(([purpose]) => purpose))).toEqual(
    new Set(['APPROVAL', 'PAYMENT', 'CANCELLATION']),
  )
})

it('a payment that is seen before the block that has it is told once', async () => {
  const { ask, deposit, passBlocks, node, names } = await start()
  deposit(await ask())
  await passBlocks(2, 2, { holdsSigned: true })
  const { opened, open } = deferred()
  node.intercept(({ method }, answer) => (method === 'eth_getLogs' ? opened.then(() => answer()) : answer()))
  await passBlocks(1, 2, { holdsSigned: true })
  await passBlocks(1)
  expect(names()).toEqual(['quoted', 'deposit', 'filled'])
  open()
  await passBlocks(4)
  expect(names()).toEqual(['quoted', 'deposit', 'filled'])
})

it('an order that was missed while the solver was down is told with what is reserved for its refund', async () => {
  const { ask, deposit, passBlocks, restart, chain, told } = await start()
  const known = await ask()
  await restart(() => {
    deposit(known)
    chain.mine(known.quote.depositDeadline)
    chain.mine(known.quote.fillDeadline + 1)
  })
  await passBlocks(4)
  const missed = told.filter(([what]) => what === 'missed').map(([, { orderId, cost }]) => [orderId, cost])
  expect(missed).toEqual([[known.orderId, known.bond]])
})

it('an order is missed when a second block is later than its fill deadline, however long none comes', async () => {
  const { ask, deposit, passBlocks, pass, metrics, passBeyond } = await start({ mayFill: () => false })
  const known = await ask()
  deposit(known)
  await passBeyond(known.quote.fillDeadline)
  await pass(150_000)
  expect([metrics().missed, metrics().openOrders]).toEqual([0, 1])
  await passBlocks(1)
  await pass(10_000)
  expect([metrics().missed, metrics().openOrders]).toEqual([1, 0])
})

it('a quote that is signed while `cancelQuotes` is called is not sent', async () => {
  const signing = deferred()
  const [, maker = devAccounts[0]] = devAccounts
  const account = privateKeyToAccount(keyOf(maker))
  let isSlow = false
  const slow = {
    address: account.address,
    signMessage: account.signMessage,
    signTransaction: account.signTransaction,
    signTypedData: (async (typed: never) => {
      if (isSlow) await signing.opened
      return account.signTypedData(typed)
    }) as typeof account.signTypedData,
  }
  const { ask, cancelQuotes, passBlocks, metrics } = await startRunning('reference', {}, { account: slow })
  await passBlocks(2)
  isSlow = true
  const asking = ask(1_000n)
  await Promise.resolve()
  expect(await cancelQuotes()).toEqual([])
  signing.open()
  expect(await asking).toBeUndefined()
  isSlow = false
  expect(metrics().openQuotes).toBe(0)
  expect(await ask(1_000n)).toBeDefined()
})
