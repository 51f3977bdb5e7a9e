import { type DepositMode, limitsOf, type SignedQuote } from '@quote-aggregator/client'
import { type Chain, createPublicClient, custom, type Hex } from 'viem'
import { beforeEach, expect, it, vi } from 'vitest'
import { INPUT_AMOUNT, solver, user } from '../../../../test/support/chain/settlement.js'
import { DEPOSITED, useDeposits } from '../../../../test/support/clients/deposits.js'
import type { MockWalletOptions } from '../../../../test/support/clients/mock-wallet.js'
import { deferred } from '../../../../test/support/deferred.js'
import { only } from '../../../../test/support/only.js'
import { toContractQuote } from '../../../protocol/src/quotes/quote.js'
import { importHooks, page, queries, repeated, shown } from './mocked-page.js'

const deposits = useDeposits()
/** What the browser stores. */
let stored: Record<string, string>
/** Between looks at an order, as the example has it. */
const LOOK_MS = 4000
const UNCERTAIN = { name: 'DepositError', reason: 'UNCERTAIN' }

/** Loads the page in a tab, and renders it there. @returns its hooks */
async function loadPage() {
  page.mutation = { isIdle: true, isError: false }
  const hooks = await importHooks()
  const { mutation } = page
  const { settlement } = deposits.chain.contracts
  const render = () => {
    page.mutation = mutation
    return hooks.useSwap(deposits.chain.chainId, settlement)
  }
  render()
  /** Has the instance say the states of an order, one after the other. */
  const watch = (orderId: Hex, states: readonly string[], signal = new AbortController().signal) => {
    page.aggregator = {
      async *watchOrder() {
        for (const state of states) yield { state }
      },
    }
    hooks.useOrder(deposits.chain.chainId, orderId, settlement)
    return page.query.queryFn({ client: queries, signal })
  }
  return { ...hooks, render, watch }
}

function takenOf(offer: SignedQuote, depositMode: DepositMode = 'CONTRACT') {
  const { inputToken, outputToken } = offer.quote
  const swap = { chainId: deposits.chain.chainId, inputToken, outputToken, orderType: 'EXACT_INPUT' }
  const params = { ...swap, amount: INPUT_AMOUNT, user: user.address, depositMode }
  return { offer, params, limits: limitsOf(offer.quote) }
}

/** Loads the page in a tab. @returns takes an offer there, with the wallet that is connected now */
async function openTab() {
  const { render } = await loadPage()
  return (offer: SignedQuote, mode?: DepositMode): Promise<unknown> => render().mutate(takenOf(offer, mode))
}

function connect(options: Partial<MockWalletOptions> = {}) {
  const wallet = deposits.walletOf(options)
  page.wallet = wallet.client
  return wallet
}

const loses = () => {
  throw new TypeError('Failed to fetch')
}

beforeEach(async () => {
  stored = {}
  const setItem = (key: string, text: string) => Object.assign(stored, { [key]: text })
  Object.defineProperty(stored, 'setItem', { value: setItem })
  Object.defineProperty(stored, 'getItem', { value: (key: string) => stored[key] ?? null })
  vi.stubGlobal('localStorage', stored)
  const chain = only<Chain>({ id: deposits.chain.chainId })
  const transport = custom({ request: deposits.node }, { retryCount: 0 })
  page.node = createPublicClient({ chain, transport, pollingInterval: 5 })
  page.aggregator = { checkOffer: async () => ({ state: 'VALID' }) }
  await deposits.chain.approve(deposits.chain.contracts.weth, user, 2n * INPUT_AMOUNT)
  shown.length = 0
  repeated.length = 0
  return () => {
    vi.unstubAllGlobals()
    vi.restoreAllMocks()
    vi.useRealTimers()
  }
})

it('a deposit that is uncertain is followed, and no other one is asked for, also in another tab and after a reload', async () => {
  const [first, other] = [await deposits.offerOf(), await deposits.offerOf({ nonce: 8n })]
  const { prompts } = connect({ onCarriedOut: loses })
  await deposits.chain.client.setAutomine(false)
  await expect((await openTab())(first)).rejects.toMatchObject(UNCERTAIN)
  const following = (await openTab())(other)
  await deposits.chain.client.mine({ blocks: 1 })
  expect(await following).toBe(first.orderId)
  expect(prompts).toHaveLength(1)
})

it('a deposit of another component ends the one that is still checked', async () => {
  const [first, other] = [await deposits.offerOf(), await deposits.offerOf({ nonce: 8n })]
  const { prompts } = connect({ onPrompt: () => new Promise(() => {}) })
  const checked = deferred()
  page.aggregator = { checkOffer: () => checked.opened }
  const swap = await openTab()
  const slow = swap(first)
  page.aggregator = { checkOffer: async () => ({ state: 'VALID' }) }
  swap(other).catch(() => {})
  await expect.poll(() => prompts).toHaveLength(1)
  checked.open()
  await expect(slow).rejects.toMatchObject(UNCERTAIN)
  expect(prompts).toHaveLength(1)
})

it('a tab whose user has declined sees that another tab has sent the same offer since', async () => {
  const [first, other] = [await deposits.offerOf(), await deposits.offerOf({ nonce: 8n })]
  connect({ onPrompt: () => Promise.reject(Object.assign(new Error('no'), { code: 4001 })) })
  const [swap, elsewhere] = [await openTab(), await openTab()]
  await expect(swap(first)).rejects.toThrow('no')
  const { prompts } = connect({ onCarriedOut: loses })
  await deposits.chain.client.setAutomine(false)
  await expect(elsewhere(first)).rejects.toMatchObject(UNCERTAIN)
  const following = swap(other)
  await deposits.chain.client.mine({ blocks: 1 })
  expect(await following).toBe(first.orderId)
  expect(prompts).toHaveLength(1)
})

it('a forged offer is not taken for a swap whose order id an instance has given it', async () => {
  const offer = await deposits.offerOf()
  connect()
  const swap = await openTab()
  expect(await swap(offer)).toBe(offer.orderId)
  const forged = { ...offer, quote: { ...offer.quote, outputAmount: 9n * offer.quote.outputAmount } }
  await expect(swap(forged)).rejects.toMatchObject({ name: 'QuoteVerificationError' })
})

/** Takes an offer, and loads the page again while the wallet asks. Then its user can confirm. */
async function reloadWhileAsked() {
  const offer = await deposits.offerOf()
  const answered = deferred()
  const { prompts } = connect({ onPrompt: () => answered.opened })
  const first = await loadPage()
  const asked: Promise<unknown> = first.render().mutate(takenOf(offer))
  await expect.poll(() => prompts).toHaveLength(1)
  const reloaded = await loadPage()
  await expect.poll(() => reloaded.render().isUncertain).toBe(true)
  expect(reloaded.render().orderId).toBe(offer.orderId)
  expect(page.query.enabled).toBe(true)
  async function confirm() {
    answered.open()
    await expect.poll(() => deposits.stateOf(offer)).toBe(DEPOSITED)
    expect(await asked).toBe(offer.orderId)
  }
  return { offer, prompts, confirm, first, ...reloaded }
}

const ENDS = {
  SETTLED: ({ orderId }: SignedQuote) => deposits.chain.send(solver, 'fill', [orderId]),
  async REFUNDED({ orderId, quote }: SignedQuote) {
    await deposits.passDeadline(quote.fillDeadline)
    await deposits.chain.send(user, 'refund', [orderId])
  },
}

it('an order that is refunded before its deposit is seen is not lost: the swap is done, and is shown after another reload', async () => {
  const { offer, prompts, confirm, render, watch } = await reloadWhileAsked()
  await confirm()
  await ENDS.REFUNDED(offer)
  await watch(offer.orderId, ['REFUNDED'])
  const { isUncertain, orderId } = render()
  expect({ isUncertain, orderId }).toEqual({ isUncertain: true, orderId: offer.orderId })
  await page.query.queryFn({})
  await expect.poll(() => render().data).toBe(offer.orderId)
  expect(render()).toMatchObject({ isUncertain: false, isError: false })
  expect((await loadPage()).render()).toMatchObject({ orderId: offer.orderId, isIdle: true })
  expect(prompts).toHaveLength(1)
})

it('a tab that was told to swap meanwhile has the order of the other tab, also when that has ended first', async () => {
  const { offer, confirm, first, render } = await reloadWhileAsked()
  const other = await loadPage()
  await expect(other.render().mutate(takenOf(await deposits.offerOf({ nonce: 8n })))).rejects.toMatchObject(
    UNCERTAIN,
  )
  await confirm()
  await ENDS.SETTLED(offer)
  await first.watch(offer.orderId, ['SETTLED'])
  for (const tab of [render, other.render]) {
    expect(tab()).toMatchObject({ isUncertain: true, orderId: offer.orderId })
    await page.query.queryFn({})
    await expect.poll(() => tab().data).toBe(offer.orderId)
  }
})

it('an order has not ended on the word of the instance alone', async () => {
  const offer = await deposits.offerOf()
  connect()
  const { render, watch } = await loadPage()
  await render().mutate(takenOf(offer))
  const states = ['DEPOSITED', 'REFUNDED']
  // The pause between two looks is over at once.
  const { setTimeout } = globalThis
  vi.spyOn(globalThis, 'setTimeout').mockImplementation((run, ms, ...args: []) =>
    setTimeout(run, ms === LOOK_MS ? 0 : ms, ...args),
  )
  await expect(watch(offer.orderId, states, AbortSignal.abort())).rejects.toMatchObject({
    name: 'AbortError',
  })
  expect(shown).toEqual([{ state: 'DEPOSITED' }])
  expect(Object.values(stored).join()).not.toContain('"isOver":true')
  expect(repeated).toEqual([])
  await ENDS.REFUNDED(offer)
  await watch(offer.orderId, states)
  expect(shown.at(-1)).toEqual({ state: 'REFUNDED' })
  expect(Object.values(stored).join()).toContain('"isOver":true')
  // What was to be taken back is not any more.
  expect(repeated).toEqual([['refund']])
})

/** Has the solver pay an order whose tokens are at its deposit address. */
function settle({ quote, signature }: SignedQuote) {
  return deposits.chain.send(solver, 'settle', [toContractQuote(quote), signature])
}

it.each([
  ['CONTRACT', 'mined', ENDS.SETTLED],
  // An address takes a second transfer.
  ['ADDRESS', 'asked', settle],
] as const)(
  'an uncertain deposit in mode %s counts as %s once its order has ended',
  async (mode, state, end) => {
    const offer = await deposits.offerOf()
    connect({ onCarriedOut: loses })
    const { render, watch } = await loadPage()
    await deposits.holdBlocks()
    await expect(render().mutate(takenOf(offer, mode))).rejects.toMatchObject(UNCERTAIN)
    await deposits.chain.client.setAutomine(true)
    await deposits.mine()
    await end(offer)
    await watch(offer.orderId, ['SETTLED'])
    expect(Object.values(stored).join()).toContain(`"step":"deposit","state":"${state}"`)
  },
)

it('what comes to the address of an order that has ended is found, until an hour after the fill deadline has nothing', async () => {
  const offer = await deposits.offerOf()
  connect()
  const { render, watch, useRefund } = await loadPage()
  await render().mutate(takenOf(offer, 'ADDRESS'))
  const { quote, orderId, depositAddress } = offer
  await settle(offer)
  await watch(orderId, ['SETTLED'])
  const find = () => {
    useRefund(deposits.chain.chainId, deposits.chain.contracts.settlement)
    return page.query.queryFn({})
  }
  expect(await find()).toBeNull()
  await deposits.chain.transfer(deposits.chain.contracts.weth, user, depositAddress, 1n)
  await deposits.passDeadline(quote.fillDeadline + 3600)
  vi.useFakeTimers({ toFake: ['Date'], now: (quote.fillDeadline + 3602) * 1000 })
  const refund = await find()
  expect(refund).toMatchObject({ orderId, call: { to: deposits.chain.contracts.settlement } })
  const { to, data } = (refund as { call: { to: Hex; data: Hex } }).call
  await deposits.node({ method: 'eth_sendTransaction', params: [{ from: user.address, to, data }] })
  expect(await find()).toBeNull()
  const requests = deposits.requests()
  expect(await find()).toBeNull()
  // It reads the constants of the contract, and no order.
  expect(deposits.requests() - requests).toBeLessThan(6)
})

it('a wallet on another network is asked for nothing, and deposits as soon as its user has switched', async () => {
  const offer = await deposits.offerOf()
  let network: Hex | undefined = '0x1'
  const { prompts } = connect({
    answer: ({ method }, own) => (method === 'eth_chainId' && network ? network : own()),
  })
  const swap = await openTab()
  await expect(swap(offer)).rejects.toMatchObject({ name: 'ChainMismatchError' })
  expect(prompts).toEqual([])
  network = undefined
  expect(await swap(offer)).toBe(offer.orderId)
})

it('a transfer that came in time, and that the solver has not settled by its fill deadline, is no uncertain deposit after a reload', async () => {
  const offer = await deposits.offerOf()
  const { prompts } = connect()
  await (await loadPage()).render().mutate(takenOf(offer, 'ADDRESS'))
  await deposits.passDeadline(offer.quote.fillDeadline)
  vi.useFakeTimers({ toFake: ['Date'], now: (offer.quote.fillDeadline + 2) * 1000 })
  const { render, useRefund } = await loadPage()
  await expect.poll(() => render().data).toBe(offer.orderId)
  expect(render()).toMatchObject({ isUncertain: false, isError: false })
  useRefund(deposits.chain.chainId, deposits.chain.contracts.settlement)
  expect(await page.query.queryFn({})).toMatchObject({ orderId: offer.orderId })
  expect(prompts).toHaveLength(1)
})
