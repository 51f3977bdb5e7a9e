import { sendDeposit } from '@quote-aggregator/client'
import { createWalletClient, custom, type Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { nonceWithMode } from '../../../packages/protocol/src/quotes/nonce-mode.js'
import { RULES } from '../../support/chain/chain.js'
import { INPUT_AMOUNT, solver, user } from '../../support/chain/settlement.js'
import {
  called,
  DEPOSITED,
  keep,
  passTime,
  reasonOf,
  TAKE,
  useDeposits,
} from '../../support/clients/deposits.js'
import { createMockWallet, type WalletRequest } from '../../support/clients/mock-wallet.js'

/** Ways in which wallets and libraries say that their user has declined. */
const CODES_OF_NO: readonly unknown[] = [
  { code: 4001, message: 'User rejected the request.' },
  { code: '4001', message: 'rejected' },
  { code: 'ACTION_REJECTED', message: 'user rejected action (action="sendTransaction")', reason: 'rejected' },
  { code: -32603, message: 'Internal JSON-RPC error.', data: { code: 4001, message: 'declined' } },
  { message: 'failed', error: { originalError: { code: 4001 } } },
  // WalletConnect's, which viem reads.
  { code: 5000, message: 'User rejected methods.' },
]
const WORDS_OF_NO: readonly unknown[] = [
  'User rejected the request',
  'cancelled',
  { message: 'MetaMask Tx Signature: User denied transaction signature.' },
  { message: 'User canceled' },
  { code: -32000, message: 'Transaction was rejected' },
  { message: 'Ledger device: Condition of use not satisfied (denied by the user?) (0x6985)' },
  { message: '{"code":4001,"message":"no"}' },
  { message: '用户取消了操作' },
]
/** What is no decision of the user: the wallet may have sent before. */
const TROUBLE: readonly unknown[] = [
  { code: -32000, message: 'already known' },
  { code: -32000, message: 'transaction rejected: nonce too low' },
  { code: -32603, message: 'Internal error' },
  { code: 4900, message: 'disconnected' },
  { code: -32000, message: 'nonce 4001 is too low' },
  { message: 'user operation was rejected by the bundler' },
  'timeout',
  null,
]

describe.each(RULES)('with the %s contract', (rules) => {
  const deposits = useDeposits(rules)
  const { node, walletOf, terms, offerOf, stateOf } = deposits
  const held = (address: Hex) => deposits.chain.balanceOf(deposits.chain.contracts.weth, address)
  const allow = () => deposits.chain.approve(deposits.chain.contracts.weth, user, INPUT_AMOUNT)

  describe('a wallet that has sent nothing', () => {
    it.each([...CODES_OF_NO, ...WORDS_OF_NO])('says no to a call: %j', async (no) => {
      await allow()
      let isNo = true
      const { client, prompts } = walletOf({
        onPrompt() {
          if (isNo) throw no
        },
      })
      const offer = await offerOf()
      const app = keep()
      expect(await reasonOf(sendDeposit(client, offer, await terms(), app.options))).not.toBe('UNCERTAIN')
      expect(app.steps()).toEqual(['deposit asked', 'deposit refused'])
      isNo = false
      await sendDeposit(client, offer, await terms(), { ...TAKE, earlier: app.told.at(-1) })
      expect(called(prompts)).toEqual(['deposit', 'deposit'])
    })

    it.each([...CODES_OF_NO.map((no) => [no, 0] as const), ...WORDS_OF_NO.map((no) => [no, 31] as const)])(
      'says no to a transfer: %j, which is believed after %i seconds',
      async (no, seconds) => {
        const { client } = walletOf({
          onPrompt() {
            throw no
          },
        })
        const app = keep({ depositMode: 'ADDRESS' })
        const ended = reasonOf(sendDeposit(client, await offerOf(), await terms(), app.options))
        if (seconds > 0) {
          await expect.poll(app.steps).toEqual(['deposit asked'])
          await passTime(deposits, seconds)
        }
        expect(await ended).not.toBe('UNCERTAIN')
        expect(app.steps()).toEqual(['deposit asked', 'deposit refused'])
      },
    )
  })

  describe('a wallet that says no after it has sent a transfer', () => {
    it.each(WORDS_OF_NO)('is not believed: %j', async (no) => {
      const { client } = walletOf({
        onCarriedOut() {
          throw no
        },
      })
      await deposits.chain.client.setAutomine(false)
      const offer = await offerOf()
      const app = keep({ depositMode: 'ADDRESS' })
      expect(await reasonOf(sendDeposit(client, offer, await terms(), app.options))).toBe('UNCERTAIN')
      expect(app.steps()).toEqual(['deposit asked'])
    })

    it('is not believed when its account has code, for which others send', async () => {
      await deposits.chain.client.setCode({ address: user.address, bytecode: '0x00' })
      const { client } = walletOf({
        onPrompt() {
          throw new Error('User rejected the request')
        },
      })
      const options = { ...TAKE, depositMode: 'ADDRESS' } as const
      expect(await reasonOf(sendDeposit(client, await offerOf(), await terms(), options))).toBe('UNCERTAIN')
    })
  })

  it.each(TROUBLE)('trouble of a wallet is no decision of its user: %j', async (trouble) => {
    await allow()
    for (const depositMode of ['CONTRACT', 'ADDRESS'] as const) {
      const { client } = walletOf({
        onPrompt() {
          throw trouble
        },
      })
      const app = keep({ depositMode })
      expect(await reasonOf(sendDeposit(client, await offerOf(), await terms(), app.options))).toBe(
        'UNCERTAIN',
      )
      expect(app.steps()).toEqual(['deposit asked'])
    }
  })

  it.each([-32000, -32601, -32602])(
    'a wallet is asked by one method only, after the error %i',
    async (code) => {
      const methods: string[] = []
      const { request } = createMockWallet({ node, account: user.address })
      const failing = async (asked: WalletRequest) => {
        if (!/sendTransaction/.test(asked.method)) return request(asked)
        methods.push(asked.method)
        await request({ ...asked, method: 'eth_sendTransaction' })
        throw Object.assign(new Error('failed'), { code })
      }
      await deposits.chain.client.setAutomine(false)
      const client = createWalletClient({ account: user.address, transport: custom({ request: failing }) })
      await reasonOf(sendDeposit(client, await offerOf(), await terms(), { ...TAKE, depositMode: 'ADDRESS' }))
      expect(methods).toEqual(['eth_sendTransaction'])
    },
  )

  describe('a wallet that sends and never answers', () => {
    it.each([
      ['CONTRACT', undefined, ['approve', 'deposit']],
      ['CONTRACT', 'supported', ['wallet_sendCalls']],
      ['ADDRESS', undefined, ['transfer']],
    ] as const)('in mode %s, with batches %s, is not waited for', async (depositMode, batches, asked) => {
      const { client, prompts } = walletOf({
        ...(batches && { batches }),
        onCarriedOut: () => new Promise(() => {}),
      })
      const offer = await offerOf()
      const app = keep({ depositMode })
      await sendDeposit(client, offer, await terms(), app.options)
      expect(called(prompts)).toEqual(asked)
      // Its prompt may still be open: after a reload, it is not asked again.
      expect(app.told.at(-1)).toEqual({ step: 'deposit', state: 'asked' })
      await sendDeposit(client, offer, await terms(), { ...app.options, earlier: app.told.at(-1) })
      expect(prompts).toHaveLength(asked.length)
    })
  })

  it('an approval that the user has lowered in the wallet is said, and asked for again', async () => {
    const { request, prompts } = createMockWallet({ node, account: user.address })
    let isLower = true
    const lowering = async (asked: WalletRequest) => {
      if (asked.method !== 'eth_sendTransaction' || !isLower) return request(asked)
      const [call] = asked.params as [{ data: Hex }]
      return request({
        ...asked,
        params: [{ ...call, data: `${call.data.slice(0, -64)}${'1'.padStart(64, '0')}` }],
      })
    }
    const client = createWalletClient({ account: user.address, transport: custom({ request: lowering }) })
    const offer = await offerOf()
    const app = keep()
    const ended = reasonOf(sendDeposit(client, offer, await terms(), app.options))
    await expect.poll(app.steps).toContain('approve sent')
    await passTime(deposits, 11)
    expect(await ended).toBe('APPROVAL_TOO_LOW')
    isLower = false
    await sendDeposit(client, offer, await terms(), { ...TAKE, earlier: app.told.at(-1) })
    expect(called(prompts)).toEqual(['approve', 'approve', 'deposit'])
    expect(await stateOf(offer)).toBe(DEPOSITED)
  })

  describe('a batch whose wallet reports', () => {
    const hash: Hex = `0x${'ab'.repeat(32)}`
    it.each([
      [{ status: 500, receipts: [] }],
      [{ status: 400 }],
      [{ status: 600, receipts: null }],
      [{ status: 500, receipts: [{ status: '0x0', transactionHash: hash }] }],
      [{ status: 'CONFIRMED', receipts: [{ status: '0x0', transactionHash: hash }] }],
      [{ status: '500', receipts: [{}] }],
      [null],
      ['failed'],
    ])('%j before it is mined is not called a failure', async (status) => {
      const { request } = createMockWallet({ node, account: user.address, batches: 'supported' })
      const reporting = async (asked: WalletRequest) =>
        asked.method === 'wallet_getCallsStatus' ? status : request(asked)
      const client = createWalletClient({ account: user.address, transport: custom({ request: reporting }) })
      await deposits.chain.client.setAutomine(false)
      const offer = await offerOf()
      const app = keep()
      const ended = reasonOf(sendDeposit(client, offer, await terms(), app.options))
      await expect.poll(app.steps).toContain('deposit sent')
      await passTime(deposits, 30)
      await deposits.chain.client.mine({ blocks: 1 })
      expect(await ended).toBe('there')
    })

    it('a failure for a minute, with nothing on the chain, leaves the deposit uncertain', async () => {
      const { request } = createMockWallet({ node, account: user.address, batches: 'supported' })
      const reporting = async (asked: WalletRequest) =>
        asked.method === 'wallet_getCallsStatus' ? { status: 500, receipts: [] } : request(asked)
      const client = createWalletClient({ account: user.address, transport: custom({ request: reporting }) })
      await deposits.chain.client.setAutomine(false)
      const app = keep()
      const ended = reasonOf(sendDeposit(client, await offerOf(), await terms(), app.options))
      await expect.poll(app.steps).toContain('deposit sent')
      await passTime(deposits, 61)
      expect(await ended).toBe('UNCERTAIN')
    })
  })

  describe('a node that lags', () => {
    it.each([
      ['eth_getTransactionReceipt', null],
      ['eth_getTransactionByHash', null],
    ])('with %s for half a minute does not make a mined deposit a replaced one', async (method, answer) => {
      await allow()
      let isLagging = false
      const lagging = (asked: WalletRequest) => {
        if (isLagging && asked.method === 'eth_call')
          return node({ ...asked, params: [asked.params[0], '0x1'] })
        if (isLagging && [method, 'eth_getTransactionReceipt'].includes(asked.method))
          return Promise.resolve(answer)
        return node(asked)
      }
      const settlement = await terms(lagging)
      const { client } = walletOf()
      const offer = await offerOf()
      await deposits.chain.client.setAutomine(false)
      const app = keep()
      const ended = reasonOf(sendDeposit(client, offer, settlement, app.options))
      await expect.poll(app.steps).toContain('deposit sent')
      await passTime(deposits, 0)
      isLagging = true
      await deposits.chain.client.mine({ blocks: 1 })
      await passTime(deposits, 30)
      isLagging = false
      expect(await ended).toBe('there')
    })
  })

  describe('an app whose onProgress throws', () => {
    it.each([
      [
        'at once',
        () => {
          throw new Error('the storage is full')
        },
      ],
      ['later', () => Promise.reject(new Error('the storage is full'))],
    ])('%s deposits once, and hears what has become of it', async (_, onProgress) => {
      const { client, prompts } = walletOf()
      const offer = await offerOf()
      await sendDeposit(client, offer, await terms(), { ...TAKE, onProgress })
      expect(called(prompts)).toEqual(['approve', 'deposit'])
      expect(await stateOf(offer)).toBe(DEPOSITED)
    })

    it('can stop before the wallet is asked by its signal', async () => {
      const { client, prompts } = walletOf()
      const leaving = new AbortController()
      const app = keep({ signal: leaving.signal })
      const onProgress = (progress: (typeof app.told)[number]) => {
        app.options.onProgress(progress)
        leaving.abort(new Error('the storage is full'))
      }
      const options = { ...app.options, onProgress }
      await expect(sendDeposit(client, await offerOf(), await terms(), options)).rejects.toThrow('storage')
      expect(app.steps()).toEqual(['approve asked', 'approve refused'])
      expect(prompts).toEqual([])
    })
  })

  describe('an offer that must not be taken', () => {
    const cheap = { maxInputAmount: INPUT_AMOUNT, minOutputAmount: 2n ** 255n }
    it.each([
      ['beyond the limits', { limits: cheap }, 7n, ['price_too_bad']],
      [
        'for the other mode',
        { ...TAKE, depositMode: 'ADDRESS' },
        nonceWithMode('CONTRACT', 7n),
        ['mode_mismatch'],
      ],
    ] as const)('%s is refused before the wallet is asked', async (_, options, nonce, problems) => {
      const { client, prompts } = walletOf()
      const sending = sendDeposit(client, await offerOf({ nonce }), await terms(), options)
      await expect(sending).rejects.toMatchObject({ problems })
      expect(prompts).toEqual([])
    })

    it.each([{}, { ...TAKE, depositMode: 'ADDRESS', params: { depositMode: 'CONTRACT' } }, undefined])(
      'with no limits or with two modes is an error before any call (%#)',
      async (options) => {
        const { client, prompts } = walletOf()
        const offer = await offerOf()
        const settlement = await terms()
        const before = deposits.requests()
        await expect(sendDeposit(client, offer, settlement, options as never)).rejects.toThrow(TypeError)
        expect([deposits.requests(), prompts]).toEqual([before, []])
      },
    )

    it('whose nonce is used gets no transfer', async () => {
      const { client, prompts } = walletOf()
      const offer = await offerOf()
      await deposits.chain.send(solver, 'cancelNonce', [offer.quote.nonce])
      const options = { ...TAKE, depositMode: 'ADDRESS' } as const
      expect(await reasonOf(sendDeposit(client, offer, await terms(), options))).toBe('TOO_LATE_FOR_TRANSFER')
      expect(prompts).toEqual([])
    })
  })

  it('a transfer that the user confirms after the deadline is no success', async () => {
    const offer = await offerOf()
    const { client } = walletOf({
      async onPrompt() {
        const timestamp = BigInt(offer.quote.depositDeadline + 3)
        await deposits.chain.client.setNextBlockTimestamp({ timestamp })
      },
    })
    const options = { ...TAKE, depositMode: 'ADDRESS' } as const
    expect(await reasonOf(sendDeposit(client, offer, await terms(), options))).toBe('UNCERTAIN')
    expect(await held(offer.depositAddress)).toBe(INPUT_AMOUNT)
  })
})
