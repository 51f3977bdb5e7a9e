import { ChainReadError, prepareRefund, sendDeposit } from '@quote-aggregator/client'
import { createWalletClient, custom, type Hex, toHex } from 'viem'
import { describe, expect, it } from 'vitest'
import { RULES } from '../../support/chain/chain.js'
import { INPUT_AMOUNT, user } from '../../support/chain/settlement.js'
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

describe.each(RULES)('with the %s contract', (rules) => {
  const deposits = useDeposits(rules)
  const { node, walletOf, terms, offerOf, stateOf } = deposits
  const allow = () => deposits.chain.approve(deposits.chain.contracts.weth, user, INPUT_AMOUNT)

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
    await passTime(deposits, 31)
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
      // What was asked before is answered: it must not see the block.
      await passTime(deposits, 0)
      await deposits.chain.client.mine({ blocks: 1 })
      await passTime(deposits, 30)
      isLagging = false
      expect(await ended).toBe('there')
    })
  })

  it.each(['usual', 'old'])(
    'a node whose views lag after each transaction has no approval of a token of the %s kind given again',
    async (kind) => {
      let past: Hex | undefined
      let reads = 0
      const lagging = (asked: WalletRequest) =>
        asked.method === 'eth_call' && asked.params[1] === 'latest' && past && reads++ % 3 === 1
          ? node({ ...asked, params: [asked.params[0], past] })
          : node(asked)
      const { oldToken, chain } = deposits
      if (kind === 'old') await chain.approve(oldToken, user, 1n)
      const settlement = await terms(lagging)
      const { client, prompts } = walletOf({
        async onPrompt() {
          past = (await node({ method: 'eth_blockNumber', params: [] })) as Hex
        },
      })
      const offer = await offerOf(kind === 'old' ? { inputToken: oldToken } : {})
      await sendDeposit(client, offer, settlement, TAKE)
      const approvals = kind === 'old' ? ['approve', 'approve'] : ['approve']
      expect(called(prompts)).toEqual([...approvals, 'deposit'])
    },
  )

  it('a node that serves another chain for a while says nothing of a deposit', async () => {
    await allow()
    let isElsewhere = false
    const offer = await offerOf()
    const ahead = { number: '0x1', timestamp: toHex(offer.quote.fillDeadline) }
    const switched = async (asked: WalletRequest) => {
      const own = await node(asked)
      if (!isElsewhere) return own
      if (asked.method === 'eth_getTransactionCount') return '0xffff'
      if (asked.method.startsWith('eth_getTransaction')) return null
      return { eth_chainId: '0xa', eth_getBlockByNumber: ahead }[asked.method] ?? own
    }
    const settlement = await terms(switched)
    const { client } = walletOf()
    await deposits.chain.client.setAutomine(false)
    const app = keep()
    const ended = reasonOf(sendDeposit(client, offer, settlement, app.options))
    await expect.poll(app.steps).toContain('deposit sent')
    await passTime(deposits, 0)
    isElsewhere = true
    await expect(prepareRefund(offer, settlement)).rejects.toThrow(ChainReadError)
    await passTime(deposits, 61)
    isElsewhere = false
    await deposits.chain.client.mine({ blocks: 1 })
    expect(await ended).toBe('there')
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
})
