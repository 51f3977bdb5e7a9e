import { limitsOf, type SignedQuote } from '@quote-aggregator/client'
import { createPublicClient, custom } from 'viem'
import { beforeEach, expect, it, vi } from 'vitest'
import { INPUT_AMOUNT, user } from '../../../../test/support/chain/settlement.js'
import { DEPOSITED, useDeposits } from '../../../../test/support/clients/deposits.js'
import type { MockWalletOptions } from '../../../../test/support/clients/mock-wallet.js'
import { deferred } from '../../../../test/support/deferred.js'

/** What the hooks of the example get of React, TanStack Query and wagmi: one render, and a mutation that is run. */
const page = vi.hoisted(() => ({
  aggregator: {},
  node: {},
  wallet: {},
  mutation: { isIdle: true, isError: false },
  query: {} as { queryFn: (context: object) => Promise<unknown>; enabled: boolean },
}))
vi.mock('react', () => ({
  createContext() {},
  useContext: () => page.aggregator,
  useEffect: (run: () => void) => run(),
  useState: (first: unknown) => [first, () => {}],
}))
vi.mock('@tanstack/react-query', () => ({
  useMutation: ({ mutationFn }: { mutationFn: (asked: unknown) => Promise<unknown> }) => ({
    mutate(asked: unknown) {
      const ended = mutationFn(asked)
      // The hook itself has nobody wait for what it follows.
      ended.catch(() => {})
      return ended
    },
    ...page.mutation,
  }),
  useQuery: (query: typeof page.query) => Object.assign(page.query, query),
  skipToken: undefined,
}))
vi.mock('wagmi', () => ({
  usePublicClient: () => page.node,
  useWalletClient: () => ({ data: page.wallet }),
}))

const deposits = useDeposits()
/** What the browser stores. */
let stored: Record<string, string>
const UNCERTAIN = { name: 'DepositError', reason: 'UNCERTAIN' }
const HOOKS = '../../../../examples/wallet/src/aggregator-hooks.ts'

/** Loads the page in a tab. @returns takes an offer there, with the wallet that is connected now */
async function openTab() {
  vi.resetModules()
  const { useSwap } = await import(HOOKS)
  return (offer: SignedQuote): Promise<unknown> => {
    const { inputToken, outputToken } = offer.quote
    const swap = { chainId: deposits.chain.chainId, inputToken, outputToken, orderType: 'EXACT_INPUT' }
    const params = { ...swap, amount: INPUT_AMOUNT, user: user.address, depositMode: 'CONTRACT' }
    const taken = { offer, params, limits: limitsOf(offer.quote) }
    return useSwap(deposits.chain.contracts.settlement).mutate(taken)
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

beforeEach(async () => {
  stored = {}
  const setItem = (key: string, text: string) => Object.assign(stored, { [key]: text })
  Object.defineProperty(stored, 'setItem', { value: setItem })
  Object.defineProperty(stored, 'getItem', { value: (key: string) => stored[key] ?? null })
  vi.stubGlobal('localStorage', stored)
  const chain = { id: deposits.chain.chainId }
  const transport = custom({ request: deposits.node }, { retryCount: 0 })
  page.node = createPublicClient({ chain: chain as never, transport, pollingInterval: 5 })
  page.aggregator = { checkOffer: async () => ({ state: 'VALID' }) }
  await deposits.chain.approve(deposits.chain.contracts.weth, user, 2n * INPUT_AMOUNT)
  page.mutation = { isIdle: true, isError: false }
  return () => void vi.unstubAllGlobals()
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

it('a deposit that is on its way is followed once the page is loaded again, without a click', async () => {
  connect({ onCarriedOut: loses })
  await deposits.chain.client.setAutomine(false)
  await expect((await openTab())(await deposits.offerOf())).rejects.toMatchObject(UNCERTAIN)
  vi.resetModules()
  const { useSwap } = await import(HOOKS)
  useSwap(deposits.chain.contracts.settlement)
  await deposits.chain.client.mine({ blocks: 1 })
  await expect.poll(() => Object.values(stored).join()).toContain('"state":"mined"')
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

it('a deposit that the wallet sends after a reload is seen without a click, and asked for once', async () => {
  const offer = await deposits.offerOf()
  const answered = deferred()
  const { prompts } = connect({ onPrompt: () => answered.opened })
  const asked = (await openTab())(offer)
  await expect.poll(() => prompts).toHaveLength(1)
  vi.resetModules()
  const { useSwap } = await import(HOOKS)
  page.mutation = { isIdle: false, isError: true }
  const { isUncertain, orderId } = useSwap(deposits.chain.contracts.settlement)
  expect({ isUncertain, orderId }).toEqual({ isUncertain: true, orderId: offer.orderId })
  expect(page.query.enabled).toBe(true)
  await expect(page.query.queryFn({})).rejects.toMatchObject(UNCERTAIN)
  answered.open()
  await expect.poll(() => deposits.stateOf(offer)).toBe(DEPOSITED)
  await page.query.queryFn({})
  expect(await asked).toBe(offer.orderId)
  expect(prompts).toHaveLength(1)
  expect(useSwap(deposits.chain.contracts.settlement).isUncertain).toBe(false)
})

it('an order has not ended on the word of the instance alone', async () => {
  const offer = await deposits.offerOf()
  connect()
  await (await openTab())(offer)
  const shown: unknown[] = []
  page.aggregator = {
    async *watchOrder() {
      yield { state: 'DEPOSITED' }
      yield { state: 'REFUNDED' }
    },
  }
  const { useOrder } = await import(HOOKS)
  useOrder(deposits.chain.chainId, offer.orderId, deposits.chain.contracts.settlement)
  const client = { setQueryData: (_: unknown, order: unknown) => shown.push(order) }
  const watched = page.query.queryFn({ client, signal: AbortSignal.abort() })
  await expect(watched).rejects.toMatchObject({ name: 'AbortError' })
  expect(shown).toEqual([{ state: 'DEPOSITED' }])
  expect(Object.values(stored).join()).not.toContain('"isOver":true')
  await deposits.passDeadline(offer.quote.fillDeadline)
  await deposits.chain.send(user, 'refund', [offer.orderId])
  await page.query.queryFn({ client, signal: new AbortController().signal })
  expect(shown.at(-1)).toEqual({ state: 'REFUNDED' })
  expect(Object.values(stored).join()).toContain('"isOver":true')
})
