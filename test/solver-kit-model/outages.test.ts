import { custom } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, it, onTestFinished, vi } from 'vitest'
import { devAccounts } from '../../packages/cli/src/devnet/deploy.js'
import type { SolverOptions } from '../../packages/solver/src/solver-options.js'
import { RULES } from '../support/chain/chain.js'
import { createModelNode } from '../support/model-chain/model-node.js'
import { OrderState } from '../support/model-chain/settlement-state.js'
import { keyOf } from '../support/solver-kit/market.js'
import type { KnownQuote } from './known-quotes.js'
import { registerAll, startRunning } from './running-solver.js'
import { CHAIN_ID, createWorld, SETTLEMENT, SOLVER, WETH } from './world.js'

const HOUR_MS = 3_600_000
/** Blocks after which a payment must be there. */
const SOON = 20
const TERMS = { depositSeconds: 60, fillSeconds: 120 }

it.each([
  ['ahead', HOUR_MS],
  ['behind', -HOUR_MS],
])('a clock that is an hour %s for seconds makes a solver give up no order', async (_title, wrongMs) => {
  let isWrong = false
  const mayFill = () => {
    if (isWrong) throw new Error('not yet')
    return true
  }
  const { chain, setTime, quoteFor, deposit, passBlocks, stateOf, metrics } = await startRunning(
    'reference',
    {},
    { mayFill },
  )
  const known = await quoteFor(1_000n, TERMS)
  deposit(known)
  isWrong = true
  setTime(chain.head().timestamp * 1000 + wrongMs)
  await passBlocks(4)
  expect([stateOf(known), metrics().openOrders]).toEqual([OrderState.DEPOSITED, 1])
  isWrong = false
  setTime(chain.head().timestamp * 1000)
  await passBlocks(SOON)
  expect([stateOf(known), metrics().missed]).toEqual([OrderState.SETTLED, 0])
})

it.each([
  ['one signature', 'account'],
  ['one call', 'node'],
  ['each fifth call', 'node'],
])('an order is paid although %s gets no answer of the %s', async (what, who) => {
  const account = privateKeyToAccount(keyOf(devAccounts[1]))
  let isLost = false
  let calls = 0
  function once<T>(answer: () => T): T | Promise<never> {
    if (!isLost || (what === 'each fifth call' && ++calls % 5 > 0)) return answer()
    isLost = what === 'each fifth call'
    return new Promise(() => {})
  }
  const signTransaction = (...terms: Parameters<typeof account.signTransaction>) =>
    once(() => account.signTransaction(...terms))
  const options = who === 'account' ? { account: { ...account, signTransaction } } : {}
  const { quoteFor, deposit, passBlocks, isPaid, node, errors } = await startRunning('reference', {}, options)
  if (who === 'node')
    node.intercept(({ method }, answer) =>
      method === 'eth_estimateGas' || what === 'each fifth call' ? once(answer) : answer(),
    )
  const known = await quoteFor(1_000n, TERMS)
  isLost = true
  deposit(known)
  await passBlocks(SOON)
  expect(isPaid(known)).toBe(true)
  if (who === 'account') expect(errors().join()).toContain('the account has not answered')
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
  const request = async () => {
    throw new Error('the other node is down')
  }
  const rpc = custom({ request }, { retryCount: 0 })
  const chains = { 1: { rpc, settlement: SETTLEMENT, tokens: [WETH] } }
  const { quoteFor, deposit, restart, passBlocks, isPaid, errors } = await startRunning(
    'reference',
    {},
    { chains },
  )
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

it('while a node shows no logs, an untaken quote is cancelled, and a deposit that nobody reports is paid', async () => {
  const { ask, deposit, passBlocks, node, isUnused, stateOf, metrics } = await startRunning()
  const asked = [await ask(1_000n, TERMS), await ask(1_000n, TERMS)]
  const [untaken, taken] = asked as [KnownQuote, KnownQuote]
  node.intercept(({ method }, answer) => {
    if (method === 'eth_getLogs') throw new Error('query returned more than 10000 results')
    return answer()
  })
  deposit(taken)
  // Both have 60 s for the deposit, and 120 s more until the fill deadline.
  await passBlocks(61)
  expect([isUnused(untaken), stateOf(untaken), stateOf(taken)]).toEqual([
    false,
    OrderState.NONE,
    OrderState.SETTLED,
  ])
  expect(metrics()).toMatchObject({ missed: 0, filled: 1 })
})

it.each(RULES)(
  'on a %s chain that makes a block only for a transaction, quotes end by the clock',
  async (rules) => {
    const { ask, pass, chain, clock, node, isUnused, metrics } = await startRunning(rules)
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
  },
)

/** A chain that has a block every two seconds, for solvers that may not start. */
function createStarts() {
  registerAll()
  const world = createWorld('reference')
  const { chain, clock } = world
  async function passBlocks(isEnough = () => false, most = SOON): Promise<void> {
    for (let block = 0; block < most && !isEnough(); block++) {
      await clock.advance(1000)
      chain.mine(chain.head().timestamp + 2)
      await clock.advance(1000)
    }
  }
  return {
    ...world,
    passBlocks,
    async start(options: Partial<SolverOptions> = {}) {
      const incarnation = world.start(options)
      onTestFinished(() => world.kill(incarnation))
      await incarnation.node.asked
      return incarnation
    },
  }
}

it('a start whose node fails while an approval waits says what the node has said', async () => {
  const { chain, clock, passBlocks, start } = createStarts()
  const incarnation = await start()
  while (chain.pendingCount() === chain.countOf(SOLVER)) await clock.advance(10)
  incarnation.node.setState('down')
  await passBlocks(() => incarnation.progress === 'failed')
  expect(incarnation.errors.map(String).join()).toMatch(
    /must be able to approve 0x\w{40} on chain 31337: .*the node is down/s,
  )
})

it('a state file of another account is refused, so that no open quote is forgotten', async () => {
  const { kill, passBlocks, start } = createStarts()
  const first = await start()
  await passBlocks(() => first.progress === 'started')
  kill(first)
  const second = await start({ account: keyOf(devAccounts[2]) })
  await passBlocks(() => second.progress !== 'starting')
  expect([second.progress, second.errors.join()]).toEqual([
    'failed',
    expect.stringContaining(`the stateFile has what was signed by ${SOLVER} for ${SETTLEMENT}`),
  ])
})

it('a registration is tried again when the instance asks for it, and no earlier', async () => {
  const { passBlocks, start } = createStarts()
  let attempts = 0
  vi.stubGlobal('fetch', async () => {
    attempts++
    if (attempts > 1) return Response.json({ status: 'registered', address: SOLVER })
    const refusal = { error: 'Too many registrations.', code: 'RATE_LIMITED' }
    return Response.json(refusal, { status: 429, headers: { 'retry-after': '120' } })
  })
  const incarnation = await start()
  await passBlocks(() => attempts === 1)
  await passBlocks(undefined, 55)
  expect([attempts, incarnation.progress]).toEqual([1, 'starting'])
  await passBlocks(() => incarnation.progress === 'started')
  expect([attempts, incarnation.progress]).toEqual([2, 'started'])
})

it('a registration whose check finds a fault is reported, and one that was not checked is not', async () => {
  const { kill, passBlocks, start } = createStarts()
  const checks = [
    { outcome: 'FAILED', explanation: 'Nothing listens there.' },
    { outcome: 'SKIPPED', explanation: 'The chain was not read yet.' },
  ]
  for (const check of checks) {
    vi.stubGlobal('fetch', async () => Response.json({ status: 'registered', address: SOLVER, check }))
    const incarnation = await start()
    await passBlocks(() => incarnation.progress === 'started')
    expect(incarnation.errors.map(String)).toEqual(
      check.outcome === 'FAILED' ? [expect.stringContaining(check.explanation)] : [],
    )
    kill(incarnation)
  }
})

it('a start ends without an error when the solver is closed meanwhile, and warns without a state file', async () => {
  const { passBlocks, start } = createStarts()
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('fetch failed')))
  const warn = vi.fn()
  const log = { debug() {}, info() {}, warn, error() {} }
  const incarnation = await start({ stateFile: undefined, log })
  await passBlocks(() => incarnation.errors.length > 0)
  expect(incarnation.progress).toBe('starting')
  await incarnation.solver.close()
  expect(incarnation.progress).toBe('started')
  expect(warn.mock.calls.map(([, text]) => text)).toContainEqual(expect.stringContaining('without stateFile'))
})
