import { custom, toFunctionSelector } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, it, vi } from 'vitest'
import { devAccounts } from '../../packages/cli/src/devnet/deploy.js'
import type { ChainOptions } from '../../packages/solver/src/solver-options.js'
import type { Rules } from '../support/chain/chain.js'
import { OrderState } from '../support/chain/signed-quote.js'
import { createModelNode } from '../support/model-chain/model-node.js'
import { keyOf } from '../support/solver-kit/market.js'
import type { KnownQuote } from './known-quotes.js'
import { type RunningSolver, startRunning } from './running-solver.js'
import { BOND, CHAIN_ID, createWorld, SETTLEMENT, SOLVER, USDC, WETH } from './world.js'

/** Blocks after which a payment must be there. */
const SOON = 20
const TERMS = { depositSeconds: 60, fillSeconds: 120 }
const ORDERS = toFunctionSelector('orders(bytes32)')
/** What the contract says of an order that is not there: zeros, and as many as any contract returns. */
const NO_ORDER = `0x${'00'.repeat(32 * 12)}`
/** What goes wrong for an order. */
interface Trouble {
  readonly rules?: Rules
  readonly limits?: Partial<ChainOptions>
  /** Plays it. @returns the quote of the order, which must be paid soon after */
  readonly play: (running: RunningSolver) => Promise<KnownQuote>
}

/** Calls without a block are answered by a node that is one block behind, if they begin so. @returns ends that */
function lag({ node, chain }: RunningSolver, begins: string): () => void {
  let isLagging = true
  node.intercept(({ method, params = [] }, answer) => {
    const [call, tag] = params as [{ data?: string }, string | undefined]
    const isRead = method === 'eth_call' && (tag ?? 'latest') === 'latest' && call.data?.startsWith(begins)
    return isLagging && isRead ? answer([call, `0x${(chain.head().number - 1).toString(16)}`]) : answer()
  })
  return () => {
    isLagging = false
  }
}

const noLogs: Trouble = {
  rules: 'deployed',
  async play({ quoteFor, transfer, node }) {
    const known = await quoteFor(1_000n, { isForAddress: true, depositSeconds: 30 })
    node.intercept(({ method }, answer) => (method === 'eth_getLogs' ? [] : answer()))
    transfer(known)
    return known
  },
}

/** A node that does not show an order yet answers while its quote is to be cancelled. */
const lagAtCancellation: Trouble = {
  limits: { pollIntervalMs: 1_000 },
  async play(running) {
    const { quoteFor, deposit, passBlocks, cancelQuotes, chain, pass } = running
    await passBlocks(5)
    const known = await quoteFor(1_000n, { depositSeconds: 300, fillSeconds: 120 })
    await passBlocks(3)
    const endLag = lag(running, ORDERS)
    deposit(known)
    chain.mine(chain.head().timestamp + 2)
    const cancelling = cancelQuotes()
    await pass(10)
    await passBlocks(2)
    endLag()
    await passBlocks(6)
    expect(await cancelling).toEqual([{ orderId: known.orderId, outcome: 'TAKEN' }])
    return known
  },
}

/** The order of the last second is not there, says the node for some blocks. */
const lagAtDeposit: Trouble = {
  rules: 'deployed',
  limits: { pollIntervalMs: 1_000 },
  async play({ ask, quoteFor, deposit, passBlocks, chain, stateOf, node }) {
    // The kit learns from a quote that has ended what the contract does at addresses.
    await ask(1_000n)
    await passBlocks(60)
    const known = await quoteFor(39_900n)
    let isLagging = false
    node.intercept(({ method, params = [] }, answer) => {
      const { data = '' } = Object(params[0])
      const isRead = method === 'eth_call' && data.startsWith(ORDERS) && data.includes(known.orderId.slice(2))
      return isLagging && isRead ? NO_ORDER : answer()
    })
    while (chain.head().timestamp < known.quote.depositDeadline - 2) await passBlocks(1)
    deposit(known)
    isLagging = true
    await passBlocks(1)
    expect(stateOf(known)).toBe(OrderState.DEPOSITED)
    await passBlocks(3)
    isLagging = false
    return known
  },
}

const droppedToken: Trouble = {
  rules: 'deployed',
  async play({ quoteFor, restart, transfer }) {
    const known = await quoteFor(1_000n, { isForAddress: true, depositSeconds: 60 })
    await restart(() => {}, { tokens: [USDC] })
    transfer(known)
    return known
  },
}

it.each<[string, Trouble]>([
  ['the node shows no logs, and the input lies at its address', noLogs],
  ['a node that lags does not show it while it is to be cancelled', lagAtCancellation],
  ['a node that lags does not show it when its last second has come', lagAtDeposit],
  ['the solver does not trade its input token any more', droppedToken],
])('an order is paid although %s', async (_what, { rules, limits, play }) => {
  const running = await startRunning(rules, limits)
  const { passBlocks, isPaid, metrics, bond } = running
  const known = await play(running)
  for (let block = 0; block < SOON && !isPaid(known); block++) await passBlocks(1)
  expect([isPaid(known), metrics().missed, bond()]).toEqual([true, 0, BOND])
})

it('an order is paid although one signature gets no answer of the account', async () => {
  const account = privateKeyToAccount(keyOf(devAccounts[1]))
  let isLost = false
  const signTransaction: typeof account.signTransaction = (...terms) => {
    if (!isLost) return account.signTransaction(...terms)
    isLost = false
    return new Promise(() => {})
  }
  const options = { account: { ...account, signTransaction } }
  const { quoteFor, deposit, passBlocks, isPaid, errors } = await startRunning('reference', {}, options)
  const known = await quoteFor(1_000n, TERMS)
  isLost = true
  deposit(known)
  await passBlocks(SOON)
  expect(isPaid(known)).toBe(true)
  expect(errors().join()).toContain('the account has not answered')
})

it('an order that is owed at a restart is paid while the instance is down', async () => {
  const { chain, quoteFor, deposit, restart, stateOf } = await startRunning()
  const known = await quoteFor(1_000n, TERMS)
  const upFrom = chain.head().number + 10
  let stateAtStart: number | undefined
  vi.stubGlobal('fetch', async () => {
    if (chain.head().number < upFrom) throw new TypeError('fetch failed')
    stateAtStart ??= stateOf(known)
    return Response.json({ status: 'registered', address: SOLVER })
  })
  await restart(() => deposit(known))
  expect(stateAtStart).toBe(OrderState.SETTLED)
})

it('an order that is owed at a restart is paid while another chain of the solver is dead', async () => {
  const request = () => Promise.reject(new Error('the other node is down'))
  const rpc = custom({ request }, { retryCount: 0 })
  const chains = { 1: { rpc, settlement: SETTLEMENT, tokens: [WETH] } }
  const running = await startRunning('reference', {}, { chains })
  const { quoteFor, deposit, restart, passBlocks, isPaid, errors } = running
  const known = await quoteFor(1_000n, TERMS)
  await restart(() => deposit(known))
  await passBlocks(SOON)
  expect(isPaid(known)).toBe(true)
  expect(errors().join()).toContain('the other node is down')
})

it.each(['an approval that waits for lower fees', 'a transport without answers'])(
  'a chain with %s keeps no other one from quoting',
  async (what) => {
    const other = createWorld('reference')
    const node = createModelNode(other.chain, 1)
    if (what.startsWith('an approval')) other.chain.setBaseFee(10n ** 12n)
    else node.setState('silent')
    const terms = { rpc: node.transport, settlement: SETTLEMENT, tokens: [WETH], maxFeePerGas: 10n ** 11n }
    const { ask } = await startRunning('reference', {}, { chains: { 1: terms } })
    expect(await ask(1_000n)).toBeDefined()
  },
)

it('a cancellation whose look at the chain fails rejects, and its quote is ended when the node is back', async () => {
  const { quoteFor, passBlocks, node, isUnused, solver, pass } = await startRunning()
  const known = await quoteFor(1_000n, TERMS)
  node.setState('down')
  const refusal = solver.cancelQuotes(CHAIN_ID).catch(String)
  await passBlocks(SOON)
  expect(await refusal).toContain('the node is down')
  node.setState('up')
  await passBlocks(SOON)
  expect(isUnused(known)).toBe(false)
  const closing = solver.close()
  await pass(2_000)
  await closing
})

it('on a chain that makes a block only for a transaction, quotes end by the clock', async () => {
  const { ask, pass, chain, clock, node, isUnused, metrics } = await startRunning()
  let refusals = 0
  node.intercept(async ({ method }, answer) => {
    if (method === 'eth_sendRawTransaction' && refusals++ < 2) throw new Error('not now')
    const answered = await answer()
    if (method === 'eth_sendRawTransaction') chain.mine(Math.floor(clock.now() / 1000))
    return answered
  })
  const quotes = [
    await ask(1_000n, { fillSeconds: 80 }),
    await ask(1_000n, { fillSeconds: 80 }),
  ] as KnownQuote[]
  await pass(40_000)
  expect(quotes.map(isUnused)).toEqual([false, false])
  await pass(10_000)
  expect(metrics().openQuotes).toBe(0)
})
