import {
  DepositError,
  type DepositProgress,
  limitsOf,
  prepareRefund,
  readSettlement,
  type SignedQuote,
  sendDeposit,
} from '@quote-aggregator/client'
import { createClient, createWalletClient, custom, type Hex, numberToHex } from 'viem'
import { describe, expect, it, vi } from 'vitest'
import { RULES, type Rules } from '../support/chain/chain.js'
import { OrderState } from '../support/chain/signed-quote.js'
import { type Asked, createModelNode } from '../support/model-chain/model-node.js'
import { createRandom, type Random } from '../support/random.js'
import { rounds } from '../support/rounds.js'
import type { KnownQuote } from './known-quotes.js'
import { startRunning } from './running-solver.js'
import { CHAIN_ID, SETTLEMENT, USERS, WETH } from './world.js'

/** Of the histories, those in which most faults of a client show. `USER_SEED` runs one. */
const TELLING: readonly number[] = [1, 4, 7, 17, 20]
const chosen = process.env.USER_SEED
const seeds =
  chosen === undefined
    ? Array.from({ length: 25 }, (_, index) => index + 1).filter(
        (seed) => rounds(1, 0) > 0 || TELLING.includes(seed),
      )
    : [Number(chosen)]
const [USER] = USERS
const BLOCK_SECONDS = 2
/** After them, no wallet sends what it was asked for before. */
const LATE_BLOCKS = 50
const MAX_TRIES = 3

type Running = Awaited<ReturnType<typeof startRunning>>

const NO: readonly [unknown, ...unknown[]] = [
  { code: 4001, message: 'User rejected the request.' },
  { code: 'ACTION_REJECTED', message: 'user rejected action' },
  { message: 'User denied transaction signature' },
]
const TROUBLE: readonly [unknown, ...unknown[]] = [
  { code: -32603, message: 'Internal error' },
  { code: -32000, message: 'already known' },
  { message: 'cancelled' },
  'timeout',
]
const BATCH_STATUS: readonly [unknown, ...unknown[]] = [
  { status: 100 },
  { status: 500, receipts: [] },
  { status: 200 },
  { status: 'CONFIRMED' },
  null,
]

/** The user's wallet. It sends, declines, or is in trouble before or after it has sent. */
function createOddWallet(running: Running, random: Random, notes: string[]) {
  const { chain } = running
  const sent: Hex[] = []
  const node = createModelNode(chain, CHAIN_ID)
  const hasBatches = random.integer(1, 3) === 1

  function send({ to, data }: { to: Hex; data: Hex }): Hex {
    const hash = chain.act(USER, to.toLowerCase() as Hex, data)
    sent.push(hash)
    return hash
  }

  async function ask(calls: { to: Hex; data: Hex }[], answer: (hash: Hex) => unknown): Promise<unknown> {
    const kind = random.pick([
      'sends',
      'sends',
      'sends',
      'declines',
      'fails',
      'sends and fails',
      'sends, is silent',
    ])
    const seconds = random.pick([0, 1, 5, 30, 90])
    notes.push(`the wallet ${kind} ${calls.length} after ${seconds} s`)
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
    if (kind === 'declines') throw random.pick(NO)
    if (kind === 'fails') throw random.pick(TROUBLE)
    const hash = calls.map(send).at(-1) as Hex
    if (kind === 'sends and fails') throw random.pick(TROUBLE)
    return kind === 'sends' ? answer(hash) : new Promise(() => {})
  }

  async function request({ method, params = [] }: { method: string; params?: readonly unknown[] }) {
    const [first] = params as [{ to: Hex; data: Hex; calls: { to: Hex; data: Hex }[] }]
    if (method === 'eth_sendTransaction') return ask([first], (hash) => hash)
    if (method === 'wallet_sendCalls') return ask(first.calls, () => ({ id: 'batch' }))
    if (method === 'wallet_getCallsStatus') return random.pick(BATCH_STATUS)
    if (method === 'wallet_getCapabilities')
      return hasBatches ? { [numberToHex(CHAIN_ID)]: { atomic: { status: 'supported' } } } : {}
    return node.request({ method, params })
  }

  return {
    client: createWalletClient({ account: USER, transport: custom({ request }) }),
    /** How many transactions wait to be mined. */
    waiting: () => sent.filter((hash) => chain.receipt(hash) === undefined).length,
  }
}

/** The user's node. Its state, receipts and counts lag, and it fails at times. */
function createOddNode({ chain }: Running, random: Random, waiting: () => number) {
  const node = createModelNode(chain, CHAIN_ID)
  const lag = random.pick([0, 0, 1, 3])
  const failing = random.pick([0, 0, 10])
  node.intercept(({ method, params = [] }: Asked, answer) => {
    if (random.integer(1, 100) <= failing) throw Object.assign(new Error('busy'), { code: -32005 })
    const isLagging = lag > 0 && random.integer(1, 2) === 1
    const past = numberToHex(Math.max(0, chain.head().number - lag))
    if (method === 'eth_getTransactionCount' && params[1] === 'pending')
      return numberToHex(chain.countOf(USER) + waiting())
    if (method === 'eth_getTransactionReceipt' && isLagging) return null
    if (method !== 'eth_call') return answer()
    try {
      return answer(isLagging && params[1] === 'latest' ? [params[0], past] : params)
    } catch (error) {
      // The model does not know each call of the other contract.
      if (typeof Object(error).code === 'number') throw error
      throw Object.assign(new Error('execution reverted'), { code: 3 })
    }
  })
  return createClient({ transport: node.transport, pollingInterval: 1000 })
}

function toOffer({ quote, ...known }: KnownQuote): SignedQuote {
  return { ...known, quote: { ...quote, orderType: 'EXACT_INPUT', outputChainId: CHAIN_ID } }
}

async function play(rules: Rules, random: Random, notes: string[]) {
  const running = await startRunning(rules)
  const { chain, contracts } = running
  const weth = contracts.token(WETH)
  vi.useFakeTimers({
    toFake: ['Date', 'setTimeout', 'clearTimeout'],
    now: chain.head().timestamp * 1000,
  })
  try {
    contracts.set(() => weth.approve(USER, SETTLEMENT, 0n))
    const wallet = createOddWallet(running, random, notes)
    const oddNode = createOddNode(running, random, wallet.waiting)
    const node = createOddNode(running, createRandom(1), wallet.waiting)
    const before = weth.balanceOf(USER)
    const taken: KnownQuote[] = []

    const passBlock = async () => {
      await running.passBlocks(1, BLOCK_SECONDS)
      await vi.advanceTimersByTimeAsync(BLOCK_SECONDS * 1000)
    }
    /** Lets time pass until a promise has ended. @returns undefined when it has not in ten minutes of its world */
    async function during<T>(promise: Promise<T>): Promise<T | undefined> {
      let ended: { readonly value: T } | undefined
      const done = promise.then((value) => {
        ended = { value }
      })
      for (let count = 0; count < 600 && ended === undefined; count++) await passBlock()
      if (ended !== undefined) await done
      return ended?.value
    }

    const settlement = await during(readSettlement(node, SETTLEMENT))
    if (settlement === undefined) throw new Error('the contract was not read')
    const isForAddress = random.integer(1, 2) === 1
    if (random.integer(1, 4) === 1) running.end()
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const wanted = { isForAddress, depositSeconds: random.integer(150, 300), fillSeconds: 120 }
      const known = await running.ask(100n, wanted)
      if (known === undefined) break
      taken.push(known)
      const offer = toOffer(known)
      let last: DepositProgress | undefined
      const sending = sendDeposit(
        wallet.client,
        offer,
        { ...settlement, client: oddNode },
        {
          limits: limitsOf(offer.quote),
          depositMode: isForAddress ? 'ADDRESS' : 'CONTRACT',
          onProgress(progress) {
            last = progress
            if (random.integer(1, 4) === 1) throw new Error('the storage is full')
          },
        },
      ).then(
        () => 'there',
        (error: unknown) => (error instanceof DepositError ? error.reason : `${last?.state} ${error}`),
      )
      const said = (await during(sending)) ?? 'nothing in time'
      notes.push(`${known.orderId.slice(0, 10)} ${isForAddress ? 'by address' : 'by contract'}: ${said}`)
      // An honest user looks into the wallet, and takes no other offer while it is uncertain.
      if (['there', 'UNCERTAIN', 'nothing in time'].includes(said)) break
    }

    // Everything has been mined, filled or missed, and the wallet has sent what it sends late.
    const isOver = (known: KnownQuote) =>
      running.stateOf(known) > OrderState.DEPOSITED || chain.head().timestamp > known.quote.fillDeadline
    for (let count = 0; count < LATE_BLOCKS || !taken.every(isOver); count++) await passBlock()
    for (const known of taken)
      for (let calls = 0; ; calls++) {
        expect(calls, 'calls without an end').toBeLessThan(5)
        const plan = await during(prepareRefund(toOffer(known), { ...settlement, client: node }))
        if (plan === undefined || 'none' in plan) break
        chain.act(USER, plan.call.to.toLowerCase() as Hex, plan.call.data)
        await passBlock()
      }
    const paid = taken.filter((known) => running.stateOf(known) === OrderState.SETTLED)
    const given = paid.reduce((sum, { quote }) => sum + quote.inputAmount, 0n)
    expect(before - weth.balanceOf(USER), 'tokens out of reach').toBe(given)
    const arrived = taken.filter((known) => running.stateOf(known) !== OrderState.NONE)
    expect(arrived.length, 'deposits').toBeLessThanOrEqual(1)
  } finally {
    vi.useRealTimers()
    running.end()
  }
}

describe.each(RULES)('on the %s contract', (rules) => {
  it.each(seeds)(
    'an honest user with an odd wallet and an odd node deposits at most once, and no token is out of reach, seed %i',
    async (seed) => {
      const notes: string[] = []
      await play(rules, createRandom(seed), notes).catch((error) => {
        throw new Error([...notes, error, `USER_SEED=${seed}, ${rules} contract`].join('\n'), {
          cause: error,
        })
      })
    },
  )
})
