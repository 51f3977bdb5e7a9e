import { custom } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { devAccounts } from '../../packages/cli/src/devnet/deploy.js'
import type { SolverOptions } from '../../packages/solver/src/solver-options.js'
import { RULES } from '../support/chain/chain.js'
import { createModelNode } from '../support/model-chain/model-node.js'
import { OrderState } from '../support/model-chain/settlement-state.js'
import { WETH_UNIT } from '../support/solver-kit/fixed-price.js'
import { keyOf } from '../support/solver-kit/market.js'
import { type KnownQuote, toKnown } from './known-quotes.js'
import { startRunning } from './running-solver.js'
import {
  CHAIN_ID,
  createWorld,
  type Incarnation,
  SETTLEMENT,
  SOLVER,
  settlementCall,
  USDC,
  USERS,
  WETH,
} from './world.js'

const HOUR_MS = 3_600_000
/** Blocks after which a payment must be there. */
const SOON = 20

/** Whether the instance answers. */
let isUp = true

beforeEach(() => {
  isUp = true
  vi.stubGlobal('fetch', async () => {
    if (!isUp) throw new TypeError('fetch failed')
    return Response.json({ status: 'registered', address: SOLVER })
  })
})
afterEach(() => void vi.unstubAllGlobals())

/** A solver on a chain that has a block every two seconds. */
function createStory() {
  const world = createWorld('reference')
  const { chain, clock } = world

  async function passBlock(): Promise<void> {
    await clock.advance(1000)
    chain.mine(chain.head().timestamp + 2)
    await clock.advance(1000)
  }

  async function passBlocks(isEnough: () => boolean): Promise<void> {
    for (let block = 0; block < SOON && !isEnough(); block++) await passBlock()
  }

  return {
    world,
    passBlock,
    passBlocks,
    async start(options: Partial<SolverOptions> = {}): Promise<Incarnation> {
      const incarnation = world.start(options)
      await incarnation.node.asked
      return incarnation
    },
    async quote({ solver }: Incarnation) {
      const body = {
        inputToken: WETH,
        outputToken: USDC,
        orderType: 'EXACT_INPUT',
        amount: String(WETH_UNIT),
        userAddress: USERS[0],
        chainId: CHAIN_ID,
        depositMode: 'CONTRACT',
        depositDeadline: chain.head().timestamp + 60,
        fillDeadline: chain.head().timestamp + 180,
      }
      const { body: answer } = await solver.answer({ body, headers: {} })
      return toKnown(world, answer as never, { isIndicative: false, isForAddress: false })
    },
    deposit: ({ quote, signature }: ReturnType<typeof toKnown>) =>
      chain.act(USERS[0], SETTLEMENT, settlementCall('deposit', [quote, signature])),
    isPaid: ({ orderId }: ReturnType<typeof toKnown>) =>
      world.contracts.settlement.order(orderId).state === OrderState.SETTLED,
  }
}

it.each([
  ['ahead', HOUR_MS],
  ['behind', -HOUR_MS],
])('a clock that is an hour %s for seconds makes a solver give up no order', async (_title, wrongMs) => {
  const { world, passBlock, passBlocks, start, quote, deposit, isPaid } = createStory()
  const { clock, chain } = world
  let isWrong = false
  const incarnation = await start({
    mayFill() {
      if (isWrong) throw new Error('not yet')
      return true
    },
  })
  await passBlocks(() => incarnation.progress === 'started')
  const known = await quote(incarnation)
  deposit(known)
  isWrong = true
  clock.set(clock.now() + wrongMs)
  for (let block = 0; block < 4; block++) await passBlock()
  expect([isPaid(known), incarnation.solver.metrics().openOrders]).toEqual([false, 1])
  isWrong = false
  clock.set(chain.head().timestamp * 1000)
  await passBlocks(() => isPaid(known))
  expect([isPaid(known), incarnation.solver.metrics().missed]).toEqual([true, 0])
  world.kill(incarnation)
})

it.each([
  ['one signature', 'account'],
  ['one call', 'node'],
  ['each fifth call', 'node'],
])('an order is paid although %s gets no answer of the %s', async (what, who) => {
  const { world, passBlocks, start, quote, deposit, isPaid } = createStory()
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
  const incarnation = await start(who === 'account' ? { account: { ...account, signTransaction } } : {})
  await passBlocks(() => incarnation.progress === 'started')
  if (who === 'node')
    incarnation.node.intercept(({ method }, answer) =>
      method === 'eth_estimateGas' || what === 'each fifth call' ? once(answer) : answer(),
    )
  const known = await quote(incarnation)
  isLost = true
  deposit(known)
  await passBlocks(() => isPaid(known))
  expect(isPaid(known)).toBe(true)
  if (who === 'account')
    expect(incarnation.errors.map(String).join()).toContain('the account has not answered')
  world.kill(incarnation)
})

it('an order that is owed at a restart is paid while the instance is down', async () => {
  const { world, passBlocks, start, quote, deposit, isPaid } = createStory()
  const first = await start()
  await passBlocks(() => first.progress === 'started')
  const known = await quote(first)
  world.kill(first)
  deposit(known)
  isUp = false
  const second = await start()
  await passBlocks(() => isPaid(known))
  expect([isPaid(known), second.progress]).toEqual([true, 'starting'])
  isUp = true
  await passBlocks(() => second.progress === 'started')
  expect(second.progress).toBe('started')
  world.kill(second)
})

it('an order that is owed at a restart is paid while another chain of the solver is dead', async () => {
  const { world, passBlocks, start, quote, deposit, isPaid } = createStory()
  const first = await start()
  await passBlocks(() => first.progress === 'started')
  const known = await quote(first)
  world.kill(first)
  deposit(known)
  const request = async () => {
    throw new Error('the other node is down')
  }
  const rpc = custom({ request }, { retryCount: 0 })
  const second = await start({ chains: { 1: { rpc, settlement: SETTLEMENT, tokens: [WETH] } } })
  await passBlocks(() => isPaid(known) && second.progress === 'started')
  expect([isPaid(known), second.progress]).toEqual([true, 'started'])
  expect(second.errors.map(String).join()).toContain('the other node is down')
  expect((await second.solver.answer({ body: {}, headers: {} })).status).toBe(400)
  world.kill(second)
})

it.each(['an approval that waits for lower fees', 'a transport without answers'])(
  'a chain with %s keeps no other one from quoting',
  async (what) => {
    const { world, passBlocks, start, quote } = createStory()
    const other = createWorld('reference')
    const node = createModelNode(other.chain, 1)
    if (what.startsWith('an approval')) other.chain.setBaseFee(10n ** 12n)
    else node.setState('silent')
    const terms = { rpc: node.transport, settlement: SETTLEMENT, tokens: [WETH], maxFeePerGas: 10n ** 11n }
    const incarnation = await start({ chains: { 1: terms } })
    for (let time = 0; time < 3; time++) await passBlocks(() => incarnation.progress === 'started')
    expect(incarnation.progress).toBe('started')
    expect((await quote(incarnation)).signature).toBeDefined()
    world.kill(incarnation)
  },
)

it('a cancellation whose look at the chain fails rejects, and its quote is ended when the node is back', async () => {
  const { world, passBlocks, start, quote } = createStory()
  const incarnation = await start()
  await passBlocks(() => incarnation.progress === 'started')
  const known = await quote(incarnation)
  incarnation.node.setState('down')
  let refusal: unknown
  incarnation.solver.cancelQuotes(CHAIN_ID).catch((error) => {
    refusal = error
  })
  await passBlocks(() => refusal !== undefined)
  expect(String(refusal)).toContain('the node is down')
  incarnation.node.setState('up')
  const isUsed = () => world.contracts.settlement.isNonceUsed(SOLVER, known.quote.nonce)
  await passBlocks(isUsed)
  expect(isUsed()).toBe(true)
  const closing = incarnation.solver.close()
  await world.clock.advance(2_000)
  await closing
})

it('a start whose node fails while an approval waits says what the node has said', async () => {
  const { world, passBlock, passBlocks, start } = createStory()
  const incarnation = await start()
  const pending = () => world.chain.pendingCount() - world.chain.countOf(SOLVER)
  while (pending() === 0) await world.clock.advance(10)
  incarnation.node.setState('down')
  await passBlock()
  await passBlocks(() => incarnation.progress === 'failed')
  expect(incarnation.errors.map(String).join()).toMatch(
    /must be able to approve 0x\w{40} on chain 31337: .*the node is down/s,
  )
  world.kill(incarnation)
})

it('a state file of another account is refused, so that no open quote is forgotten', async () => {
  const { world, passBlocks, start } = createStory()
  const first = await start()
  await passBlocks(() => first.progress === 'started')
  world.kill(first)
  const second = await start({ account: keyOf(devAccounts[2]) })
  await passBlocks(() => second.progress !== 'starting')
  expect([second.progress, second.errors.join()]).toEqual([
    'failed',
    expect.stringContaining(`the stateFile has what was signed by ${SOLVER} for ${SETTLEMENT}`),
  ])
})

it('a registration is tried again when the instance asks for it, and no earlier', async () => {
  const { world, passBlock, passBlocks, start } = createStory()
  let attempts = 0
  vi.stubGlobal('fetch', async () => {
    attempts++
    if (attempts > 1) return Response.json({ status: 'registered', address: SOLVER })
    const refusal = { error: 'Too many registrations.', code: 'RATE_LIMITED' }
    return Response.json(refusal, { status: 429, headers: { 'retry-after': '120' } })
  })
  const incarnation = await start()
  await passBlocks(() => attempts === 1)
  for (let block = 0; block < 55; block++) await passBlock()
  expect([attempts, incarnation.progress]).toEqual([1, 'starting'])
  await passBlocks(() => incarnation.progress === 'started')
  expect([attempts, incarnation.progress]).toEqual([2, 'started'])
  world.kill(incarnation)
})

it('a registration whose check finds a fault is reported, and one that was not checked is not', async () => {
  const { world, passBlocks, start } = createStory()
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
    world.kill(incarnation)
  }
})

it('a start ends without an error when the solver is closed meanwhile, and warns without a state file', async () => {
  const { passBlocks, start } = createStory()
  isUp = false
  const warn = vi.fn()
  const log = { debug() {}, info() {}, warn, error() {} }
  const incarnation = await start({ stateFile: undefined, log })
  await passBlocks(() => incarnation.errors.length > 0)
  expect(incarnation.progress).toBe('starting')
  await incarnation.solver.close()
  expect(incarnation.progress).toBe('started')
  expect(warn.mock.calls.map(([, text]) => text)).toContainEqual(expect.stringContaining('without stateFile'))
})

it('while a node shows no logs, an untaken quote is cancelled, and a deposit that nobody reports is paid', async () => {
  const { world, passBlock, passBlocks, quote, deposit, isPaid } = createStory()
  const node = createModelNode(world.chain, CHAIN_ID).transport({})
  let isLogless = false
  const rpc = custom(
    {
      async request({ method, params }) {
        if (isLogless && method === 'eth_getLogs') throw new Error('query returned more than 10000 results')
        return node.request({ method, params })
      },
    },
    { retryCount: 0 },
  )
  const incarnation = world.start({}, { rpc })
  await passBlocks(() => incarnation.progress === 'started')
  const [untaken, taken] = [await quote(incarnation), await quote(incarnation)]
  isLogless = true
  deposit(taken)
  const isEnded = () => world.contracts.settlement.isNonceUsed(SOLVER, untaken.quote.nonce)
  // Both have 60 s for the deposit, and 120 s more until the fill deadline.
  for (let block = 0; block < 60 && !(isEnded() && isPaid(taken)); block++) await passBlock()
  expect([isEnded(), isPaid(untaken), isPaid(taken)]).toEqual([true, false, true])
  await passBlock()
  expect(incarnation.solver.metrics()).toMatchObject({ missed: 0, filled: 1 })
  world.kill(incarnation)
})

it.each(RULES)(
  'on a %s chain that makes a block only for a transaction, quotes end by the clock',
  async (rules) => {
    const { ask, pass, chain, clock, node, isUnused, metrics, end } = await startRunning(rules)
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
    end()
  },
)
