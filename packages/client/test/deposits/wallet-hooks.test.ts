import { limitsOf, type SignedQuote } from '@quote-aggregator/client'
import { type Chain, createPublicClient, custom, type Hex } from 'viem'
import { beforeEach, expect, it, vi } from 'vitest'
import { INPUT_AMOUNT, solver, user } from '../../../../test/support/chain/settlement.js'
import { useDeposits } from '../../../../test/support/clients/deposits.js'
import type { MockWalletOptions } from '../../../../test/support/clients/mock-wallet.js'
import { deferred } from '../../../../test/support/deferred.js'
import { only } from '../../../../test/support/only.js'
import { toContractQuote } from '../../../protocol/src/quotes/quote.js'
import { importHooks, page, queries, repeated, shown } from './wallet-page.js'

const deposits = useDeposits()
/** What the browser stores. */
let stored: Record<string, string>
const storedText = () => Object.values(stored).join()
/** Between looks at an order, as the example has it. */
const LOOK_MS = 4000
const UNCERTAIN = { name: 'DepositError', reason: 'UNCERTAIN' }

/** Loads the page in a tab, and renders it there. */
async function openTab() {
  const hooks = await importHooks()
  const mutation = { isIdle: true, isError: false }
  const { chainId } = deposits.chain
  const { settlement } = deposits.chain.contracts
  const render = () => {
    page.mutation = mutation
    return hooks.useSwap(chainId, settlement)
  }
  render()
  return {
    render,
    /** Takes an offer, with the wallet that is connected now. */
    swap({ quote, ...signed }: SignedQuote, depositMode = 'CONTRACT'): Promise<unknown> {
      const { inputToken, outputToken } = quote
      const asked = { chainId, inputToken, outputToken, orderType: 'EXACT_INPUT', amount: INPUT_AMOUNT }
      const params = { ...asked, user: user.address, depositMode }
      return render().mutate({ offer: { quote, ...signed }, params, limits: limitsOf(quote) })
    },
    /** Looks for a deposit that the wallet may have sent since. */
    look() {
      render()
      return page.query.queryFn({})
    },
    /** Has the instance say the states of an order, one after the other. */
    watch({ orderId }: SignedQuote, states: readonly string[], signal = new AbortController().signal) {
      page.aggregator = {
        async *watchOrder() {
          for (const state of states) yield { state }
        },
      }
      hooks.useOrder(chainId, orderId, settlement)
      return page.query.queryFn({ client: queries, signal })
    },
    findRefund() {
      hooks.useRefund(chainId, settlement)
      return page.query.queryFn({})
    },
  }
}

function connect(options: Partial<MockWalletOptions> = {}) {
  const wallet = deposits.walletOf(options)
  page.wallet = wallet.client
  return wallet
}

const loses = () => {
  throw new TypeError('Failed to fetch')
}

async function refund({ orderId, quote }: SignedQuote) {
  await deposits.passDeadline(quote.fillDeadline)
  await deposits.chain.send(user, 'refund', [orderId])
}
const fill = ({ orderId }: SignedQuote) => deposits.chain.send(solver, 'fill', [orderId])
/** Has the solver pay an order whose tokens are at its deposit address. */
const settle = ({ quote, signature }: SignedQuote) =>
  deposits.chain.send(solver, 'settle', [toContractQuote(quote), signature])

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
  }
})

it('a deposit of another component ends the one that is still checked', async () => {
  const [first, other] = [await deposits.offerOf(), await deposits.offerOf({ nonce: 8n })]
  const { prompts } = connect({ onPrompt: () => new Promise(() => {}) })
  const checked = deferred()
  const { aggregator } = page
  page.aggregator = { checkOffer: () => checked.opened }
  const { swap } = await openTab()
  const slow = swap(first)
  page.aggregator = aggregator
  swap(other).catch(() => {})
  await expect.poll(() => prompts).toHaveLength(1)
  checked.open()
  await expect(slow).rejects.toMatchObject(UNCERTAIN)
  expect(prompts).toHaveLength(1)
})

it('a tab whose user has declined follows the uncertain deposit that another tab has sent since, and asks for no other one', async () => {
  const [first, other] = [await deposits.offerOf(), await deposits.offerOf({ nonce: 8n })]
  connect({ onPrompt: () => Promise.reject(Object.assign(new Error('no'), { code: 4001 })) })
  const [tab, elsewhere] = [await openTab(), await openTab()]
  await expect(tab.swap(first)).rejects.toThrow('no')
  const { prompts } = connect({ onCarriedOut: loses })
  await deposits.holdBlocks()
  await expect(elsewhere.swap(first)).rejects.toMatchObject(UNCERTAIN)
  const following = tab.swap(other)
  await deposits.mine()
  expect(await following).toBe(first.orderId)
  expect(prompts).toHaveLength(1)
})

it('a forged offer with the order id of a swap is not taken for it', async () => {
  const offer = await deposits.offerOf()
  connect()
  const { swap } = await openTab()
  expect(await swap(offer)).toBe(offer.orderId)
  const forged = { ...offer, quote: { ...offer.quote, outputAmount: 9n * offer.quote.outputAmount } }
  await expect(swap(forged)).rejects.toMatchObject({ name: 'QuoteVerificationError' })
})

it('a deposit that its user confirms after a reload is seen in every tab, also when its order was refunded before', async () => {
  const offer = await deposits.offerOf()
  const { orderId } = offer
  const answered = deferred()
  const { prompts } = connect({ onPrompt: () => answered.opened })
  const first = await openTab()
  const asked = first.swap(offer)
  await expect.poll(() => prompts).toHaveLength(1)
  const reloaded = await openTab()
  await expect.poll(() => reloaded.render().isUncertain).toBe(true)
  expect(page.query.enabled).toBe(true)
  const other = await openTab()
  await expect(other.swap(await deposits.offerOf({ nonce: 8n }))).rejects.toMatchObject(UNCERTAIN)
  answered.open()
  expect(await asked).toBe(orderId)
  await refund(offer)
  await first.watch(offer, ['REFUNDED'])
  for (const tab of [reloaded, other]) {
    expect(tab.render()).toMatchObject({ isUncertain: true, orderId })
    await tab.look()
    await expect.poll(() => tab.render().data).toBe(orderId)
    expect(tab.render()).toMatchObject({ isUncertain: false, isError: false })
  }
  expect((await openTab()).render()).toMatchObject({ orderId, isIdle: true })
  expect(prompts).toHaveLength(1)
})

it('an order has not ended on the word of the instance alone', async () => {
  const offer = await deposits.offerOf()
  connect()
  const { swap, watch } = await openTab()
  await swap(offer)
  const states = ['DEPOSITED', 'REFUNDED']
  // The pause between two looks is over at once.
  const { setTimeout } = globalThis
  vi.spyOn(globalThis, 'setTimeout').mockImplementation((run, ms, ...args: []) =>
    setTimeout(run, ms === LOOK_MS ? 0 : ms, ...args),
  )
  await expect(watch(offer, states, AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' })
  expect(shown).toEqual([{ state: 'DEPOSITED' }])
  expect(storedText()).not.toContain('"isOver":true')
  expect(repeated).toEqual([])
  await refund(offer)
  await watch(offer, states)
  expect(shown.at(-1)).toEqual({ state: 'REFUNDED' })
  expect(storedText()).toContain('"isOver":true')
  // What was to be taken back is not any more.
  expect(repeated).toEqual([['refund']])
})

it.each([
  ['CONTRACT', 'mined', fill],
  // An address takes a second transfer.
  ['ADDRESS', 'asked', settle],
] as const)(
  'an uncertain deposit in mode %s counts as %s once its order has ended',
  async (mode, state, end) => {
    const offer = await deposits.offerOf()
    connect({ onCarriedOut: loses })
    const { swap, watch } = await openTab()
    await deposits.holdBlocks()
    await expect(swap(offer, mode)).rejects.toMatchObject(UNCERTAIN)
    await deposits.chain.client.setAutomine(true)
    await deposits.mine()
    await end(offer)
    await watch(offer, ['SETTLED'])
    expect(storedText()).toContain(`"step":"deposit","state":"${state}"`)
  },
)

it('what comes to the address of an order that has ended is found, until an hour after the fill deadline has nothing', async () => {
  const offer = await deposits.offerOf()
  connect()
  const { swap, watch, findRefund } = await openTab()
  await swap(offer, 'ADDRESS')
  const { quote, orderId, depositAddress } = offer
  await settle(offer)
  await watch(offer, ['SETTLED'])
  expect(await findRefund()).toBeNull()
  await deposits.chain.transfer(deposits.chain.contracts.weth, user, depositAddress, 1n)
  await deposits.passDeadline(quote.fillDeadline + 3600)
  vi.useFakeTimers({ toFake: ['Date'], now: (quote.fillDeadline + 3602) * 1000 })
  const found = await findRefund()
  expect(found).toMatchObject({ orderId, call: { to: deposits.chain.contracts.settlement } })
  const { to, data } = (found as { call: { to: Hex; data: Hex } }).call
  await deposits.node({ method: 'eth_sendTransaction', params: [{ from: user.address, to, data }] })
  expect(await findRefund()).toBeNull()
  const requests = deposits.requests()
  expect(await findRefund()).toBeNull()
  // It reads the constants of the contract, and no order.
  expect(deposits.requests() - requests).toBeLessThan(6)
})

it.each([
  ['AMOUNT_TOO_SMALL', ['UNSUPPORTED_PAIR', undefined, 'AMOUNT_TOO_SMALL']],
  [undefined, [undefined, 'PAUSED', 'REVERTED']],
])('a round without offers says why: %s', async (expected, codes) => {
  const counts = { asked: 3, quoted: 0, declined: 3, invalid: 0, failed: 0, late: 0 }
  const end = { type: 'done', quoteId: 'a', round: 1, best: undefined, alternatives: [], ...counts }
  const leaving = new AbortController()
  page.aggregator = {
    async *streamQuotes() {
      yield end
      leaving.abort()
    },
    getQuoteRecord: async () => ({ solvers: codes.map((declineCode) => ({ declineCode })) }),
  }
  const hooks = await importHooks()
  hooks.useQuotes({ chainId: deposits.chain.chainId })
  await page.query.queryFn({ client: queries, signal: leaving.signal })
  expect(shown).toMatchObject([{ best: undefined, answered: 3, declineCode: expected }])
})

it('a transfer that came in time, and that the solver has not settled by its fill deadline, is no uncertain deposit after a reload', async () => {
  const offer = await deposits.offerOf()
  const { prompts } = connect()
  await (await openTab()).swap(offer, 'ADDRESS')
  await deposits.passDeadline(offer.quote.fillDeadline)
  vi.useFakeTimers({ toFake: ['Date'], now: (offer.quote.fillDeadline + 2) * 1000 })
  const { render, findRefund } = await openTab()
  await expect.poll(() => render().data).toBe(offer.orderId)
  expect(render()).toMatchObject({ isUncertain: false, isError: false })
  expect(await findRefund()).toMatchObject({ orderId: offer.orderId })
  expect(prompts).toHaveLength(1)
})
