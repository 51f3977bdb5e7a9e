import {
  DepositError,
  type DepositProgress,
  readSettlement,
  type SendDepositOptions,
  type SettlementTerms,
  type SignedQuote,
  sendDeposit,
} from '@quote-aggregator/client'
import { type Address, createPublicClient, custom, type Hex, toFunctionSelector, toHex } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, expect, vi } from 'vitest'
import type { Rules } from '../chain/chain.js'
import { compileSource } from '../chain/deploy-source.js'
import { type Fixture, INPUT_AMOUNT, OUTPUT_AMOUNT, startSettlement, user } from '../chain/settlement.js'
import { createMockWallet, type MockWalletOptions, type WalletRequest } from './mock-wallet.js'

type DepositWallet = Parameters<typeof sendDeposit>[0]

/** Options of one who takes the offers of these tests. */
const TAKE = { limits: { maxInputAmount: INPUT_AMOUNT, minOutputAmount: OUTPUT_AMOUNT } }
/** Long enough for a transfer. */
const WINDOW_SECONDS = 600

const NAMES = new Map([
  [toFunctionSelector('approve(address,uint256)'), 'approve'],
  [toFunctionSelector('transfer(address,uint256)'), 'transfer'],
])

/**
 * The settlement contract, a user with tokens and without an allowance, and the offers of one solver, for the tests of a file. Each
 * test starts with the same state of the chain.
 * @param hasOldToken whether there is a token like USDT, which takes time to compile
 */
export function useDeposits(rules: Rules = 'reference', hasOldToken = false) {
  let chain: Fixture
  let oldToken: Address
  let snapshot: Hex
  /** Whether the app's node, and the wallet's, can be reached. */
  let isConnected = true
  let requests = 0

  beforeAll(async () => {
    chain = await startSettlement(rules)
    if (hasOldToken) {
      oldToken = await compileSource('OldToken').deploy(chain.devnet)
      await chain.mint(oldToken, user.address, INPUT_AMOUNT)
    }
    await chain.approve(chain.contracts.weth, user, 0n)
  })
  afterAll(() => chain?.stop())
  beforeEach(async () => {
    snapshot = await chain.client.snapshot()
  })
  afterEach(async () => {
    vi.useRealTimers()
    isConnected = true
    await chain.client.setAutomine(true)
    // What was sent and not mined would take nonces of the next test, and leave them when it becomes invalid.
    await chain.client.request({ method: 'anvil_dropAllTransactions' } as never)
    await chain.client.revert({ id: snapshot })
  })

  async function node(request: WalletRequest): Promise<unknown> {
    requests++
    if (!isConnected) throw new TypeError('Failed to fetch')
    return chain.client.request(request as never, { retryCount: 0 })
  }

  const mine = () => chain.client.mine({ blocks: 1 })

  /** What the app reads of the contract, through a node of its own. @param request another one that answers it */
  function terms(request = node): Promise<SettlementTerms> {
    const transport = custom({ request }, { retryCount: 0 })
    return readSettlement(createPublicClient({ transport, pollingInterval: 5 }), chain.contracts.settlement)
  }

  async function offerOf(changes: Parameters<Fixture['signedQuote']>[0] = {}): Promise<SignedQuote> {
    const depositDeadline = chain.startTime + WINDOW_SECONDS
    const deadlines = { depositDeadline, fillDeadline: depositDeadline + WINDOW_SECONDS }
    const { quote, ...signed } = await chain.signedQuote({ ...deadlines, ...changes })
    return {
      ...signed,
      quote: { ...quote, orderType: 'EXACT_INPUT', outputChainId: Number(quote.outputChainId) },
    }
  }

  return {
    get chain() {
      return chain
    },
    /** A token like USDT, of which the user has enough too. */
    get oldToken() {
      return oldToken
    },
    /** Answers requests of the app and of the wallet. */
    node,
    /** How many requests it has got. */
    requests: () => requests,
    /** Has the node be out of reach, or in reach again. */
    setConnected(value: boolean): void {
      isConnected = value
    },
    walletOf: (options: Partial<MockWalletOptions> = {}) =>
      createMockWallet({ node, account: user.address, ...options }),
    terms,
    offerOf,
    /** Gives the contract the allowance for the input. */
    allow: () => chain.approve(chain.contracts.weth, user, INPUT_AMOUNT),
    /** Has the chain mine nothing until the test ends, or mines itself. */
    holdBlocks: () => chain.client.setAutomine(false),
    mine,
    /** Has a block come when the app is told what was sent. With held blocks, no deposit is seen before its wallet has answered. */
    onProgress: ({ state }: DepositProgress) => (state === 'sent' ? mine() : undefined),
    /** Has the time of the chain be after a deadline. */
    async passDeadline(deadline: number) {
      await chain.client.setNextBlockTimestamp({ timestamp: BigInt(deadline + 1) })
      await chain.client.mine({ blocks: 1 })
    },
    /** What is at the address of an offer. */
    held: ({ depositAddress }: SignedQuote) => chain.balanceOf(chain.contracts.weth, depositAddress),
    /** Has the user replace the last transaction of a deposit by one at a higher fee. */
    async replaceLast(told: readonly DepositProgress[], changes: { to?: Address; data?: Hex } = {}) {
      const hash = told.at(-1)?.hash as Hex
      const { from, to, input: data, nonce } = await chain.client.getTransaction({ hash })
      const fees = { maxFeePerGas: '0x174876e800', maxPriorityFeePerGas: '0xba43b7400' }
      const faster = { from, to, data, nonce: toHex(nonce), gas: '0x30d40', ...fees, ...changes }
      await chain.client.request({ method: 'eth_sendTransaction', params: [faster] } as never)
    },
    /**
     * Has a wallet deposit.
     * @param offer an own one when left out
     * @returns the offer, what the app is told, and how it ends: as `reasonOf` says
     */
    async begin(
      client: DepositWallet,
      options: Partial<SendDepositOptions> = {},
      { offer, settlement }: { readonly offer?: SignedQuote; readonly settlement?: SettlementTerms } = {},
    ) {
      const taken = offer ?? (await offerOf())
      const app = keep(options)
      const ended = reasonOf(sendDeposit(client, taken, settlement ?? (await terms()), app.options))
      return { ...app, offer: taken, ended }
    },
    stateOf: async ({ orderId }: SignedQuote) => (await chain.view.orders([orderId])).at(-1),
  }
}

/** Moves the clock on, after several looks at the chain. What waits for the clock looks again then. */
export async function passTime(
  { requests }: Pick<ReturnType<typeof useDeposits>, 'requests'>,
  seconds: number,
) {
  const enough = requests() + 40
  await expect.poll(requests).toBeGreaterThan(enough)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + seconds * 1000 })
}

/** The functions that the transactions of a wallet called. */
export function called(prompts: readonly WalletRequest[]): string[] {
  return prompts.map(({ method, params }) => {
    const { data } = params[0] as { data?: Hex }
    return data === undefined ? method : (NAMES.get(data.slice(0, 10) as Hex) ?? 'deposit')
  })
}

/** What an app keeps of a deposit. */
function keep(options: Partial<SendDepositOptions> = {}) {
  const told: DepositProgress[] = []
  const onProgress = (progress: DepositProgress) => {
    told.push(progress)
    return options.onProgress?.(progress)
  }
  return {
    options: { ...TAKE, ...options, onProgress },
    told,
    steps: () => told.map(({ step, state }) => `${step} ${state}`),
  }
}

/** The reason of a deposit's `DepositError`, any other error itself, or `there`. */
export function reasonOf(sending: Promise<void>): Promise<unknown> {
  return sending.then(
    () => 'there',
    (error: unknown) => (error instanceof DepositError ? error.reason : error),
  )
}
