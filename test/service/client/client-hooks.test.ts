import { limitsOf, type SignedQuote } from '@quote-aggregator/client'
import { createPublicClient, custom } from 'viem'
import { beforeEach, expect, it, vi } from 'vitest'
import { INPUT_AMOUNT, user } from '../../support/chain/settlement.js'
import { useDeposits } from '../../support/clients/deposits.js'
import type { MockWalletOptions } from '../../support/clients/mock-wallet.js'
import { deferred } from '../../support/deferred.js'

/** What the hooks of the example get of React, TanStack Query and wagmi: one render, and a mutation that is run. */
const page = vi.hoisted(() => ({ aggregator: {}, node: {}, wallet: {} }))
vi.mock('react', () => ({
  createContext() {},
  useContext: () => page.aggregator,
  useEffect: (run: () => void) => run(),
}))
vi.mock('@tanstack/react-query', () => ({
  useMutation: ({ mutationFn }: { mutationFn: unknown }) => ({ mutate: mutationFn, isIdle: true }),
}))
vi.mock('wagmi', () => ({
  usePublicClient: () => page.node,
  useWalletClient: () => ({ data: page.wallet }),
}))

const deposits = useDeposits()
/** What the browser stores. */
let stored: Record<string, string>
const UNCERTAIN = { name: 'DepositError', reason: 'UNCERTAIN' }
const HOOKS = '../../../examples/wallet/src/aggregator-hooks.ts'

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
  await expect(slow).rejects.toThrow('Another swap was begun.')
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
