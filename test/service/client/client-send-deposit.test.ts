import {
  AggregatorError,
  DepositError,
  type DepositProgress,
  readSettlement,
  type SendDepositOptions,
  type SettlementTerms,
  type SignedQuote,
  sendDeposit,
} from '@quote-aggregator/client'
import {
  type Address,
  createPublicClient,
  createWalletClient,
  custom,
  type Hex,
  http,
  toFunctionSelector,
  toHex,
} from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { compileSource } from '../../support/chain/deploy-source.js'
import {
  type Fixture,
  INPUT_AMOUNT,
  solver,
  startSettlement,
  stranger,
  user,
} from '../../support/chain/settlement.js'
import {
  createMockWallet,
  type MockWalletOptions,
  type SentBatch,
  type WalletRequest,
} from '../../support/clients/mock-wallet.js'

const NAMES = new Map([
  [toFunctionSelector('approve(address,uint256)'), 'approve'],
  [toFunctionSelector('transfer(address,uint256)'), 'transfer'],
])

let chain: Fixture
let oldToken: Address
let snapshot: Hex
/** Whether the app's node, and the wallet's, can be reached. */
let isConnected = true

beforeAll(async () => {
  chain = await startSettlement()
  oldToken = await compileSource('OldToken').deploy(chain.devnet)
  await chain.mint(oldToken, user.address, INPUT_AMOUNT)
  await chain.approve(chain.contracts.weth, user, 0n)
})
afterAll(() => chain?.stop())

beforeEach(async () => {
  snapshot = await chain.client.snapshot()
})
afterEach(async () => {
  isConnected = true
  await chain.client.setAutomine(true)
  await chain.client.revert({ id: snapshot })
})

async function node(request: WalletRequest): Promise<unknown> {
  if (!isConnected) throw new TypeError('Failed to fetch')
  return chain.client.request(request as never, { retryCount: 0 })
}

function walletOf(options: Partial<MockWalletOptions> = {}) {
  return createMockWallet({ node, account: user.address, ...options })
}

/** What the app reads of the contract, through a node of its own. */
function terms(): Promise<SettlementTerms> {
  const transport = custom({ request: node }, { retryCount: 0 })
  return readSettlement(createPublicClient({ transport, pollingInterval: 5 }), chain.contracts.settlement)
}

async function offerOf(
  changes: { inputToken?: Address; depositDeadline?: number } = {},
): Promise<SignedQuote> {
  const { quote, ...signed } = await chain.signedQuote(changes)
  return {
    ...signed,
    quote: { ...quote, orderType: 'EXACT_INPUT', outputChainId: Number(quote.outputChainId) },
  }
}

const stateOf = async ({ orderId }: SignedQuote) => (await chain.view.orders([orderId])).at(-1)
const DEPOSITED = 1

/** The hash of a transaction that has reverted. */
function reverted(): Promise<Hex> {
  const params = [{ from: user.address, to: chain.contracts.settlement, data: '0x12345678', gas: '0x30d40' }]
  return chain.client.request({ method: 'eth_sendTransaction', params } as never)
}

/** The functions that the transactions of a wallet called. */
function called(prompts: readonly WalletRequest[]): string[] {
  return prompts.map(({ method, params }) => {
    const { data } = params[0] as { data?: Hex }
    return data === undefined ? method : (NAMES.get(data.slice(0, 10) as Hex) ?? 'deposit')
  })
}

/** What an app keeps of a deposit. */
function keep(options: SendDepositOptions = {}) {
  const told: DepositProgress[] = []
  const onProgress = (progress: DepositProgress) => void told.push(progress)
  return {
    options: { ...options, onProgress },
    told,
    steps: () => told.map(({ step, state }) => `${step} ${state}`),
  }
}

const reasonOf = (sending: Promise<void>) =>
  sending.then(
    () => 'there',
    (error: unknown) => (error instanceof DepositError ? error.reason : error),
  )

describe('a wallet with EIP-5792', () => {
  it.each([
    ['supported', true, undefined],
    ['ready', true, undefined],
    ['unsupported', false, undefined],
    ['supported', true, '0x0'],
    ['supported', true, '0x07A69'],
    ['supported', true, '31337'],
  ] as const)(
    'that says %s of atomic batches sends all with one prompt',
    async (batches, atomicRequired, scope) => {
      const { client, prompts } = walletOf({ batches, ...(scope && { scope }) })
      const offer = await offerOf()
      const app = keep()
      await sendDeposit(client, offer, await terms(), app.options)

      expect(prompts).toHaveLength(1)
      const { params } = prompts[0] as WalletRequest
      const [batch] = params as [SentBatch]
      expect(batch).toMatchObject({ version: '2.0.0', from: user.address, chainId: '0x7a69', atomicRequired })
      expect(batch.calls.map(({ to, value }) => [to, value])).toEqual([
        [chain.contracts.weth, '0x0'],
        [chain.contracts.settlement, '0x0'],
      ])
      expect(await stateOf(offer)).toBe(DEPOSITED)
      expect(app.steps()).toEqual(['deposit asked', 'deposit sent', 'deposit mined'])
      expect(app.told.at(-1)?.batchId).toBe('batch 0')
    },
  )

  it.each([5750, 5760, 5700, 5710, 5740, 4200, -32601, -32602])(
    'that refuses the batch with %i gets one transaction after the other',
    async (batches) => {
      const { client, prompts } = walletOf({ batches })
      const offer = await offerOf()
      await sendDeposit(client, offer, await terms())
      expect(called(prompts)).toEqual(['wallet_sendCalls', 'approve', 'deposit'])
      expect(await stateOf(offer)).toBe(DEPOSITED)
    },
  )

  it('is followed by the id of its batch after a reload', async () => {
    const { client, prompts } = walletOf({ batches: 'supported' })
    const offer = await offerOf()
    await chain.client.setAutomine(false)
    const leaving = new AbortController()
    const before = keep({ signal: leaving.signal })
    const first = sendDeposit(client, offer, await terms(), before.options)
    await expect.poll(() => before.steps()).toContain('deposit sent')
    leaving.abort(new Error('the page is closed'))
    await expect(first).rejects.toThrow('the page is closed')

    const after = keep({ earlier: before.told.at(-1) })
    const second = sendDeposit(client, offer, await terms(), after.options)
    await chain.client.mine({ blocks: 1 })
    await second
    expect(prompts).toHaveLength(1)
    expect(after.steps()).toEqual(['deposit mined'])
  })
})

describe('a wallet without EIP-5792', () => {
  it('approves, then deposits', async () => {
    const { client, prompts } = walletOf()
    const offer = await offerOf()
    const app = keep()
    await sendDeposit(client, offer, await terms(), app.options)
    expect(called(prompts)).toEqual(['approve', 'deposit'])
    expect(app.steps()).toEqual(
      ['approve', 'deposit'].flatMap((step) => ['asked', 'sent', 'mined'].map((state) => `${step} ${state}`)),
    )
    expect(await stateOf(offer)).toBe(DEPOSITED)
  })

  it('sets the allowance of a token like USDT to zero first', async () => {
    await chain.approve(oldToken, user, 1n)
    const { client, prompts } = walletOf()
    const offer = await offerOf({ inputToken: oldToken })
    await sendDeposit(client, offer, await terms())
    expect(called(prompts)).toEqual(['approve', 'approve', 'deposit'])
    expect(await stateOf(offer)).toBe(DEPOSITED)
  })

  it('goes on with the deposit when the connection is lost between the two', async () => {
    const { client, prompts } = walletOf({
      onPrompt({ params }) {
        const isDeposit = (params[0] as { to: Address }).to === chain.contracts.settlement
        if (isDeposit && prompts.length === 2) throw Object.assign(new Error('disconnected'), { code: 4900 })
      },
    })
    const offer = await offerOf()
    const app = keep()
    expect(await reasonOf(sendDeposit(client, offer, await terms(), app.options))).toBe('UNCERTAIN')
    expect(app.told.at(-1)).toEqual({ step: 'deposit', state: 'asked' })
    // The user has looked into the wallet, which has no second transaction.
    await sendDeposit(client, offer, await terms())
    expect(called(prompts)).toEqual(['approve', 'deposit', 'deposit'])
    expect(await stateOf(offer)).toBe(DEPOSITED)
  })

  it('is not asked while its node cannot be reached, and is asked for no second approval after that', async () => {
    const { client, prompts } = walletOf({
      onCarriedOut() {
        if (prompts.length === 1) isConnected = false
      },
    })
    const offer = await offerOf()
    const app = keep()
    const sending = sendDeposit(client, offer, await terms(), app.options)
    await expect.poll(() => app.steps()).toEqual(['approve asked', 'approve sent'])
    isConnected = true
    await sending
    expect(called(prompts)).toEqual(['approve', 'deposit'])
  })

  it('is followed by the hash of its transaction after a reload', async () => {
    await chain.approve(chain.contracts.weth, user, INPUT_AMOUNT)
    await chain.client.setAutomine(false)
    const { client, prompts } = walletOf()
    const offer = await offerOf()
    const leaving = new AbortController()
    const before = keep({ signal: leaving.signal })
    const first = sendDeposit(client, offer, await terms(), before.options)
    await expect.poll(() => before.steps()).toContain('deposit sent')
    leaving.abort(new Error('the page is closed'))
    await expect(first).rejects.toThrow('the page is closed')

    const earlier = JSON.parse(JSON.stringify(before.told.at(-1)))
    const second = sendDeposit(client, offer, await terms(), { earlier })
    await chain.client.mine({ blocks: 1 })
    await second
    expect(called(prompts)).toEqual(['deposit'])
    expect(await stateOf(offer)).toBe(DEPOSITED)
  })
})

describe('a deposit is never sent twice:', () => {
  const lose = () => {
    throw new TypeError('Failed to fetch')
  }

  it('two calls at once ask once', async () => {
    const { client, prompts } = walletOf({ batches: 'supported' })
    const offer = await offerOf()
    const settlement = await terms()
    await Promise.all([sendDeposit(client, offer, settlement), sendDeposit(client, offer, settlement)])
    expect(prompts).toHaveLength(1)
  })

  it('one that is there is found', async () => {
    const { client, prompts } = walletOf()
    const offer = await offerOf()
    await sendDeposit(client, offer, await terms())
    const asked = prompts.length
    await sendDeposit(client, offer, await terms())
    expect(prompts).toHaveLength(asked)
  })

  it.each(['wallet_sendCalls', 'eth_sendTransaction'])('when the answer to %s is lost', async (method) => {
    const isBatch = method === 'wallet_sendCalls'
    const { client, prompts } = walletOf({
      ...(isBatch && { batches: 'supported' }),
      onCarriedOut: () => (isBatch || prompts.length === 2 ? lose() : undefined),
    })
    const offer = await offerOf()
    const app = keep()
    expect(await reasonOf(sendDeposit(client, offer, await terms(), app.options))).toBe('UNCERTAIN')
    const asked = prompts.length
    await sendDeposit(client, offer, await terms(), { earlier: app.told.at(-1) })
    expect(prompts).toHaveLength(asked)
    expect(await stateOf(offer)).toBe(DEPOSITED)
  })

  it('when the answer is lost and nothing is there, the user must look', async () => {
    const { client, prompts } = walletOf({ batches: 'supported', onPrompt: lose })
    const offer = await offerOf()
    const app = keep()
    expect(await reasonOf(sendDeposit(client, offer, await terms(), app.options))).toBe('UNCERTAIN')
    const again = sendDeposit(client, offer, await terms(), { earlier: app.told.at(-1) })
    expect(await reasonOf(again)).toBe('UNCERTAIN')
    expect(prompts).toHaveLength(1)
  })

  it('one that the user has refused is asked for again', async () => {
    let isRefused = true
    const refuse = () => {
      if (isRefused) throw Object.assign(new Error('User rejected the request.'), { code: 4001 })
    }
    const { client, prompts } = walletOf({ batches: 'supported', onPrompt: refuse })
    const offer = await offerOf()
    const app = keep()
    await expect(sendDeposit(client, offer, await terms(), app.options)).rejects.toMatchObject({ code: 4001 })
    expect(app.steps()).toEqual(['deposit asked', 'deposit refused'])
    isRefused = false
    await sendDeposit(client, offer, await terms(), { earlier: app.told.at(-1) })
    expect(prompts).toHaveLength(2)
    expect(await stateOf(offer)).toBe(DEPOSITED)
  })
})

describe('a deposit that fails', () => {
  /** Has a deposit wait to be mined. */
  async function startPending() {
    await chain.approve(chain.contracts.weth, user, INPUT_AMOUNT)
    await chain.client.setAutomine(false)
    const { client } = walletOf()
    const offer = await offerOf()
    const app = keep()
    const ended = reasonOf(sendDeposit(client, offer, await terms(), app.options))
    await expect.poll(() => app.steps()).toContain('deposit sent')
    return { offer, ended, hash: app.told.at(-1)?.hash as Hex }
  }

  it('has reverted', async () => {
    const { offer, ended } = await startPending()
    const { gasPrice = 1n } = { gasPrice: await chain.client.getGasPrice() }
    await chain.client.setBalance({ address: solver.address, value: 10n ** 20n })
    await chain.client.request({
      method: 'eth_sendTransaction',
      params: [
        {
          from: solver.address,
          to: chain.contracts.settlement,
          data: `${toFunctionSelector('cancelNonce(uint256)')}${offer.quote.nonce.toString(16).padStart(64, '0')}`,
          gasPrice: `0x${(gasPrice * 100n).toString(16)}`,
          gas: '0x30d40',
        },
      ],
    } as never)
    await chain.client.mine({ blocks: 1 })
    expect(await ended).toBe('REVERTED')
  })

  it('was replaced in the wallet', async () => {
    const { ended, hash } = await startPending()
    const { nonce } = await chain.client.getTransaction({ hash })
    await chain.client.request({
      method: 'eth_sendTransaction',
      params: [
        {
          from: user.address,
          to: user.address,
          nonce: `0x${nonce.toString(16)}`,
          gasPrice: `0x${(10n ** 12n).toString(16)}`,
          gas: '0x5208',
        },
      ],
    } as never)
    await chain.client.mine({ blocks: 1 })
    expect(await ended).toBe('REPLACED')
  })

  it('has come too late', async () => {
    const { ended, hash, offer } = await startPending()
    await chain.client.dropTransaction({ hash })
    await chain.client.setNextBlockTimestamp({ timestamp: BigInt(offer.quote.depositDeadline + 1) })
    await chain.client.mine({ blocks: 1 })
    expect(await ended).toBe('EXPIRED')
  })

  it('is not begun after its deadline on the chain, with a clock that is late', async () => {
    const { client, prompts } = walletOf()
    const offer = await offerOf()
    await chain.client.setNextBlockTimestamp({ timestamp: BigInt(offer.quote.depositDeadline + 1) })
    await chain.client.mine({ blocks: 1 })
    expect(await reasonOf(sendDeposit(client, offer, await terms(), { depositMode: 'ADDRESS' }))).toBe(
      'EXPIRED',
    )
    expect(prompts).toEqual([])
  })

  it('is not begun after its deadline', async () => {
    const { client, prompts } = walletOf()
    const offer = await offerOf({ depositDeadline: Math.floor(Date.now() / 1000) - 1 })
    expect(await reasonOf(sendDeposit(client, offer, await terms()))).toBe('EXPIRED')
    expect(prompts).toEqual([])
  })

  it('is not begun from another account, which the contract refuses', async () => {
    const { client, prompts } = walletOf({ account: stranger.address })
    const error = await reasonOf(sendDeposit(client, await offerOf(), await terms()))
    expect(error).toBeInstanceOf(AggregatorError)
    expect((error as AggregatorError).violations).toEqual([
      { field: 'wallet', message: `must have the account of the offer, ${user.address}` },
    ])
    expect(prompts).toEqual([])
  })

  it('is not begun on another chain', async () => {
    const elsewhere = (request: WalletRequest) =>
      request.method === 'eth_chainId' ? Promise.resolve('0x1') : node(request)
    const { client, prompts } = walletOf({ node: elsewhere })
    const app = keep()
    await expect(sendDeposit(client, await offerOf(), await terms(), app.options)).rejects.toThrow(/chain/)
    expect(app.steps().at(-1)).toBe('approve refused')
    expect(prompts).toEqual([])
  })
})

describe('a wallet with answers of its own', () => {
  /** Sends batches, and answers them with what the test says. */
  function walletAnswering(answer: unknown, status: () => Promise<unknown>) {
    const { request, prompts } = createMockWallet({ node, account: user.address, batches: 'supported' })
    const answering = async ({ method, params }: WalletRequest) => {
      if (method === 'wallet_getCallsStatus') return status()
      const own = await request({ method, params })
      return method === 'wallet_sendCalls' ? answer : own
    }
    return {
      client: createWalletClient({ account: user.address, transport: custom({ request: answering }) }),
      prompts,
    }
  }
  const forgetful = () => Promise.reject(Object.assign(new Error('unknown bundle'), { code: 5730 }))
  const silent = () => new Promise(() => {})

  it.each([
    ['the id alone, as in version 1', 'batch 0', forgetful],
    ['an id that it does not know later', { id: 'batch 0' }, forgetful],
    ['an id, and nothing later', { id: 'batch 0' }, silent],
  ])('is asked once, and the chain says that the deposit is there: %s', async (_, answer, status) => {
    const { client, prompts } = walletAnswering(answer, status)
    const offer = await offerOf()
    await sendDeposit(client, offer, await terms())
    expect(prompts).toHaveLength(1)
    expect(await stateOf(offer)).toBe(DEPOSITED)
  })

  it.each([null, [], {}, { '0x7a69': null }, { '0x1': { atomic: { status: 'supported' } } }, 'yes'])(
    'gets transactions when its capabilities say nothing of batches: %j',
    async (capabilities) => {
      const { request, prompts } = createMockWallet({ node, account: user.address, batches: 'supported' })
      const saying = async (asked: WalletRequest) =>
        asked.method === 'wallet_getCapabilities' ? capabilities : request(asked)
      const client = createWalletClient({ account: user.address, transport: custom({ request: saying }) })
      await sendDeposit(client, await offerOf(), await terms())
      expect(called(prompts)).toEqual(['approve', 'deposit'])
    },
  )

  it('gives an approval again after one that has reverted', async () => {
    const { client, prompts } = walletOf()
    const offer = await offerOf()
    const hash = await reverted()
    await sendDeposit(client, offer, await terms(), { earlier: { step: 'approve', state: 'sent', hash } })
    expect(called(prompts)).toEqual(['approve', 'deposit'])
  })

  it.each([null, '', {}, { id: 17 }])('is not asked again after the answer %j', async (answer) => {
    const { client, prompts } = walletAnswering(answer, forgetful)
    expect(await reasonOf(sendDeposit(client, await offerOf(), await terms()))).toBe('UNCERTAIN')
    expect(prompts).toHaveLength(1)
  })

  it('may name its transactions by what no node knows', async () => {
    const { request, prompts } = createMockWallet({ node, account: user.address })
    const named = async (asked: WalletRequest) => {
      const answer = await request(asked)
      return asked.method === 'eth_sendTransaction' ? 'operation 1' : answer
    }
    const client = createWalletClient({ account: user.address, transport: custom({ request: named }) })
    const offer = await offerOf()
    await sendDeposit(client, offer, await terms())
    expect(called(prompts)).toEqual(['approve', 'deposit'])
    expect(await stateOf(offer)).toBe(DEPOSITED)
  })

  it('may replace its approval by one at a higher fee', async () => {
    const { client, prompts } = walletOf()
    const offer = await offerOf()
    await chain.client.setAutomine(false)
    const app = keep()
    const sending = sendDeposit(client, offer, await terms(), app.options)
    await expect.poll(() => app.steps()).toContain('approve sent')
    const transaction = await chain.client.getTransaction({ hash: app.told.at(-1)?.hash as Hex })
    const { from, to, input: data, nonce } = transaction
    const fees = { maxFeePerGas: '0x174876e800', maxPriorityFeePerGas: '0xba43b7400' }
    const faster = { from, to, data, nonce: toHex(nonce), gas: '0x30d40', ...fees }
    await chain.client.request({ method: 'eth_sendTransaction', params: [faster] } as never)
    await chain.client.setAutomine(true)
    await chain.client.mine({ blocks: 1 })
    await sending
    expect(called(prompts)).toEqual(['approve', 'deposit'])
    expect(await stateOf(offer)).toBe(DEPOSITED)
  })

  it('may never answer: a signal ends the wait', async () => {
    const { client, prompts } = walletOf({ onPrompt: () => new Promise(() => {}) })
    const leaving = new AbortController()
    const app = keep({ signal: leaving.signal })
    const offer = await offerOf()
    const sending = sendDeposit(client, offer, await terms(), app.options)
    await expect.poll(() => prompts).toHaveLength(1)
    leaving.abort(new Error('the page is closed'))
    await expect(sending).rejects.toThrow('the page is closed')
  })
})

describe('a deposit to the address', () => {
  const options: SendDepositOptions = { depositMode: 'ADDRESS' }

  it.each([-32000, -32603, -32005, 8000])(
    'is not sent again after an error of the wallet that may come after the transfer: %i',
    async (code) => {
      const { client, prompts } = walletOf({
        onCarriedOut() {
          throw Object.assign(new Error('already known'), { code })
        },
      })
      await chain.client.setAutomine(false)
      const offer = await offerOf()
      const app = keep(options)
      expect(await reasonOf(sendDeposit(client, offer, await terms(), app.options))).toBe('UNCERTAIN')
      await chain.client.mine({ blocks: 1 })
      await sendDeposit(client, offer, await terms(), { ...options, earlier: app.told.at(-1) })
      expect(called(prompts)).toEqual(['transfer'])
      expect(await chain.balanceOf(chain.contracts.weth, offer.depositAddress)).toBe(INPUT_AMOUNT)
    },
  )

  it('is one transfer, to the address that the contract computes', async () => {
    const { client, prompts } = walletOf({ batches: 'supported' })
    const offer = await offerOf()
    const told = { ...offer, depositAddress: stranger.address, orderId: `0x${'ab'.repeat(32)}` as Hex }
    await sendDeposit(client, told, await terms(), options)
    expect(called(prompts)).toEqual(['transfer'])
    expect(await chain.balanceOf(chain.contracts.weth, offer.depositAddress)).toBe(INPUT_AMOUNT)
  })

  it('is not sent when the tokens are there, also from elsewhere', async () => {
    const { client, prompts } = walletOf()
    const offer = await offerOf()
    await chain.transfer(chain.contracts.weth, user, offer.depositAddress, INPUT_AMOUNT)
    await sendDeposit(client, offer, await terms(), options)
    expect(prompts).toEqual([])
  })

  it('may come from another account', async () => {
    await chain.mint(chain.contracts.weth, stranger.address, INPUT_AMOUNT)
    const { client } = walletOf({ account: stranger.address })
    const offer = await offerOf()
    await sendDeposit(client, offer, await terms(), options)
    expect(await chain.balanceOf(chain.contracts.weth, offer.depositAddress)).toBe(INPUT_AMOUNT)
  })
})

it('an account in the app signs its transactions itself', async () => {
  const client = createWalletClient({ account: user, transport: http(chain.devnet.rpcUrl) })
  const offer = await offerOf()
  await sendDeposit(client, offer, await terms())
  expect(await stateOf(offer)).toBe(DEPOSITED)
})
