import { type DepositProgress, type SendDepositOptions, sendDeposit } from '@quote-aggregator/client'
import { type Address, createWalletClient, custom, type Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { INPUT_AMOUNT, user } from '../../support/chain/settlement.js'
import { called, DEPOSITED, keep, reasonOf, TAKE, useDeposits } from '../../support/clients/deposits.js'
import type { WalletRequest } from '../../support/clients/mock-wallet.js'
import { deferred } from '../../support/deferred.js'

const deposits = useDeposits()
const { node, walletOf, terms, offerOf, stateOf } = deposits

describe('a deposit is never sent twice:', () => {
  const lose = () => {
    throw new TypeError('Failed to fetch')
  }

  it('two calls at once ask once', async () => {
    const answer = deferred()
    const { client, prompts } = walletOf({ batches: 'supported', onPrompt: () => answer.opened })
    const offer = await offerOf()
    const settlement = await terms()
    const first = sendDeposit(client, offer, settlement, TAKE)
    await expect.poll(() => prompts).toHaveLength(1)
    let requests = 0
    const counted = await terms((request) => {
      requests++
      return node(request)
    })
    requests = 0
    const second = sendDeposit(client, offer, counted, TAKE)
    // One that does not wait for the first reads the chain at once.
    await deposits.chain.client.getBlockNumber({ cacheTime: 0 })
    expect(requests).toBe(0)
    answer.open()
    await Promise.all([first, second])
    expect(prompts).toHaveLength(1)
  })

  it.each(['before', 'while'])(
    'a call goes on when the signal of the first one ends that %s the wallet is asked',
    async (when) => {
      const answer = deferred()
      await deposits.chain.approve(deposits.chain.contracts.weth, user, INPUT_AMOUNT)
      const { client, prompts } = walletOf({ onPrompt: () => answer.opened })
      const offer = await offerOf()
      const settlement = await terms()
      const leaving = new AbortController()
      const first = sendDeposit(client, offer, settlement, { ...TAKE, signal: leaving.signal })
      if (when === 'while') await expect.poll(() => prompts).toHaveLength(1)
      const second = sendDeposit(client, offer, settlement, { ...TAKE, signal: new AbortController().signal })
      leaving.abort(new Error('left'))
      await expect(first).rejects.toThrow('left')
      answer.open()
      // Nobody knows what a prompt that is open will bring.
      const ends = when === 'while' ? ['there', 'UNCERTAIN'] : ['there']
      expect(ends).toContain(await reasonOf(second))
      expect(prompts).toHaveLength(1)
    },
  )

  it('one that is there is found', async () => {
    const { client, prompts } = walletOf()
    const offer = await offerOf()
    await sendDeposit(client, offer, await terms(), TAKE)
    const asked = prompts.length
    await sendDeposit(client, offer, await terms(), TAKE)
    expect(prompts).toHaveLength(asked)
  })

  it('one that was seen, and was refunded since, is found', async () => {
    const offer = await offerOf()
    const app = keep()
    await sendDeposit(walletOf({ batches: 'supported' }).client, offer, await terms(), app.options)
    await deposits.chain.client.setNextBlockTimestamp({ timestamp: BigInt(offer.quote.fillDeadline + 1) })
    await deposits.chain.send(user, 'refund', [offer.orderId])
    const { client, prompts } = walletOf()
    const follow = (earlier?: DepositProgress) =>
      terms().then((settlement) => reasonOf(sendDeposit(client, offer, settlement, { ...TAKE, earlier })))
    expect(await follow(app.told.at(-1))).toBe('there')
    // Others can end an order without a deposit of the user.
    expect(await follow({ step: 'deposit', state: 'asked' })).toBe('UNCERTAIN')
    expect(prompts).toEqual([])
  })

  it.each(['wallet_sendCalls', 'eth_sendTransaction'])('when the answer to %s is lost', async (method) => {
    const isBatch = method === 'wallet_sendCalls'
    const { client, prompts } = walletOf({
      ...(isBatch && { batches: 'supported' }),
      onCarriedOut: lose,
    })
    const offer = await offerOf()
    const app = keep()
    if (!isBatch) await deposits.chain.approve(deposits.chain.contracts.weth, user, INPUT_AMOUNT)
    await deposits.chain.client.setAutomine(false)
    expect(await reasonOf(sendDeposit(client, offer, await terms(), app.options))).toBe('UNCERTAIN')
    const asked = prompts.length
    await deposits.chain.client.mine({ blocks: 1 })
    await sendDeposit(client, offer, await terms(), { ...TAKE, earlier: app.told.at(-1) })
    expect(prompts).toHaveLength(asked)
    expect(await stateOf(offer)).toBe(DEPOSITED)
  })

  it('when the answer is lost and nothing is there, the user must look', async () => {
    const { client, prompts } = walletOf({ batches: 'supported', onPrompt: lose })
    const offer = await offerOf()
    const app = keep()
    expect(await reasonOf(sendDeposit(client, offer, await terms(), app.options))).toBe('UNCERTAIN')
    const again = sendDeposit(client, offer, await terms(), { ...TAKE, earlier: app.told.at(-1) })
    expect(await reasonOf(again)).toBe('UNCERTAIN')
    expect(prompts).toHaveLength(1)
  })

  it.each(['CONTRACT', 'ADDRESS'] as const)(
    'in mode %s, when the node has an account of the app send it and its answer is lost',
    async (depositMode) => {
      await deposits.chain.approve(deposits.chain.contracts.weth, user, INPUT_AMOUNT)
      await deposits.chain.client.setAutomine(false)
      const sent: string[] = []
      const request = async (asked: WalletRequest) => {
        const answer = await node(asked)
        if (asked.method !== 'eth_sendRawTransaction') return answer
        sent.push(`${answer}`)
        return lose()
      }
      const client = createWalletClient({ account: user, transport: custom({ request }) })
      const offer = await offerOf()
      const app = keep({ depositMode })
      expect(await reasonOf(sendDeposit(client, offer, await terms(), app.options))).toBe('UNCERTAIN')
      expect(app.told.at(-1)).toEqual({ step: 'deposit', state: 'asked', hash: sent[0] })

      const again = keep({ depositMode, earlier: app.told.at(-1) })
      const following = sendDeposit(client, offer, await terms(), again.options)
      await deposits.chain.client.mine({ blocks: 1 })
      await following
      expect(sent).toHaveLength(1)
      expect(again.steps()).toEqual(['deposit mined'])
    },
  )

  it.each([
    ['an error of its node inside', { code: -32603, data: { code: -32602 } }],
    ['the code of a batch that it does not take', { code: -32602 }],
  ])('a batch that the wallet has sent one by one, and answered with %s', async (_, error) => {
    const { client, prompts } = walletOf({
      batches: 'unsupported',
      onCarriedOut() {
        throw Object.assign(new Error('replacement transaction underpriced'), error)
      },
    })
    const offer = await offerOf()
    const app = keep()
    await deposits.chain.client.setAutomine(false)
    expect(await reasonOf(sendDeposit(client, offer, await terms(), app.options))).toBe('UNCERTAIN')
    expect(app.steps()).toEqual(['deposit asked'])
    expect(prompts).toHaveLength(1)
  })

  it.each([4001, -32000])('one that the wallet has refused with %i is asked for again', async (code) => {
    let isRefused = true
    const refuse = () => {
      if (isRefused) throw Object.assign(new Error('User rejected the request.'), { code })
    }
    const { client, prompts } = walletOf({ batches: 'supported', onPrompt: refuse })
    const offer = await offerOf()
    const app = keep()
    await expect(sendDeposit(client, offer, await terms(), app.options)).rejects.toMatchObject({ code })
    expect(app.steps()).toEqual(['deposit asked', 'deposit refused'])
    isRefused = false
    await sendDeposit(client, offer, await terms(), { ...TAKE, earlier: app.told.at(-1) })
    expect(prompts).toHaveLength(2)
    expect(await stateOf(offer)).toBe(DEPOSITED)
  })
})

describe('a deposit after an approval', () => {
  it('goes on when the connection is lost between the two', async () => {
    const { client, prompts } = walletOf({
      onPrompt({ params }) {
        const isDeposit = (params[0] as { to: Address }).to === deposits.chain.contracts.settlement
        if (isDeposit && prompts.length === 2) throw Object.assign(new Error('disconnected'), { code: 4900 })
      },
    })
    const offer = await offerOf()
    const app = keep()
    expect(await reasonOf(sendDeposit(client, offer, await terms(), app.options))).toBe('UNCERTAIN')
    expect(app.told.at(-1)).toEqual({ step: 'deposit', state: 'asked' })
    // The user has looked into the wallet, which has no second transaction.
    await sendDeposit(client, offer, await terms(), TAKE)
    expect(called(prompts)).toEqual(['approve', 'deposit', 'deposit'])
    expect(await stateOf(offer)).toBe(DEPOSITED)
  })

  it('waits while the node of the wallet cannot be reached, and no second approval is asked for', async () => {
    const { client, prompts } = walletOf({
      onCarriedOut() {
        if (prompts.length === 1) deposits.setConnected(false)
      },
    })
    const offer = await offerOf()
    const app = keep()
    const sending = sendDeposit(client, offer, await terms(), app.options)
    await expect.poll(() => app.steps()).toEqual(['approve asked', 'approve sent'])
    deposits.setConnected(true)
    await sending
    expect(called(prompts)).toEqual(['approve', 'deposit'])
  })

  it('is not asked for when the time has ended meanwhile', async () => {
    const offer = await offerOf()
    const { client, prompts } = walletOf({
      async onCarriedOut() {
        await deposits.chain.client.setNextBlockTimestamp({
          timestamp: BigInt(offer.quote.depositDeadline + 1),
        })
        await deposits.chain.client.mine({ blocks: 1 })
      },
    })
    expect(await reasonOf(sendDeposit(client, offer, await terms(), TAKE))).toBe('EXPIRED')
    expect(called(prompts)).toEqual(['approve'])
  })
})

describe('a deposit after a reload', () => {
  it('is followed by the id of its batch', async () => {
    const { client, prompts } = walletOf({ batches: 'supported' })
    const offer = await offerOf()
    await deposits.chain.client.setAutomine(false)
    const leaving = new AbortController()
    const before = keep({ signal: leaving.signal })
    const first = sendDeposit(client, offer, await terms(), before.options)
    await expect.poll(() => before.steps()).toContain('deposit sent')
    leaving.abort(new Error('the page is closed'))
    await expect(first).rejects.toThrow('the page is closed')

    const after = keep({ earlier: before.told.at(-1) })
    const second = sendDeposit(client, offer, await terms(), after.options)
    await deposits.chain.client.mine({ blocks: 1 })
    await second
    expect(prompts).toHaveLength(1)
    expect(after.steps()).toEqual(['deposit mined'])
  })

  it('is followed by the hash of its transaction', async () => {
    await deposits.chain.approve(deposits.chain.contracts.weth, user, INPUT_AMOUNT)
    await deposits.chain.client.setAutomine(false)
    const { client, prompts } = walletOf()
    const offer = await offerOf()
    const leaving = new AbortController()
    const before = keep({ signal: leaving.signal })
    const first = sendDeposit(client, offer, await terms(), before.options)
    await expect.poll(() => before.steps()).toContain('deposit sent')
    leaving.abort(new Error('the page is closed'))
    await expect(first).rejects.toThrow('the page is closed')

    const earlier = JSON.parse(JSON.stringify(before.told.at(-1)))
    const second = sendDeposit(client, offer, await terms(), { ...TAKE, earlier })
    await deposits.chain.client.mine({ blocks: 1 })
    await second
    expect(called(prompts)).toEqual(['deposit'])
    expect(await stateOf(offer)).toBe(DEPOSITED)
  })
})

describe('a deposit to the address', () => {
  const options: SendDepositOptions = { ...TAKE, depositMode: 'ADDRESS' }

  it.each([-32000, -32603, -32005, 8000])(
    'is not sent again after an error of the wallet that may come after the transfer: %i',
    async (code) => {
      const { client, prompts } = walletOf({
        onCarriedOut() {
          throw Object.assign(new Error('already known'), { code })
        },
      })
      await deposits.chain.client.setAutomine(false)
      const offer = await offerOf()
      const app = keep(options)
      expect(await reasonOf(sendDeposit(client, offer, await terms(), app.options))).toBe('UNCERTAIN')
      await deposits.chain.client.mine({ blocks: 1 })
      await sendDeposit(client, offer, await terms(), { ...TAKE, ...options, earlier: app.told.at(-1) })
      expect(called(prompts)).toEqual(['transfer'])
      expect(await deposits.chain.balanceOf(deposits.chain.contracts.weth, offer.depositAddress)).toBe(
        INPUT_AMOUNT,
      )
    },
  )

  it('is not sent when the tokens are there, also from elsewhere', async () => {
    const { client, prompts } = walletOf()
    const offer = await offerOf()
    await deposits.chain.transfer(deposits.chain.contracts.weth, user, offer.depositAddress, INPUT_AMOUNT)
    await sendDeposit(client, offer, await terms(), options)
    expect(prompts).toEqual([])
  })

  it('is not called expired while the transfer may still come, nor a success when it comes too late', async () => {
    await deposits.chain.client.setAutomine(false)
    const { client } = walletOf()
    const offer = await offerOf()
    const app = keep(options)
    const ended = reasonOf(sendDeposit(client, offer, await terms(), app.options))
    await expect.poll(() => app.steps()).toContain('deposit sent')
    await deposits.chain.client.dropTransaction({ hash: app.told.at(-1)?.hash as Hex })
    await deposits.chain.client.setNextBlockTimestamp({ timestamp: BigInt(offer.quote.depositDeadline + 1) })
    await deposits.chain.client.mine({ blocks: 1 })
    // Enough for several looks at the chain.
    const enough = deposits.requests() + 40
    await expect.poll(() => deposits.requests()).toBeGreaterThan(enough)
    await deposits.chain.client.setAutomine(true)
    await deposits.chain.transfer(deposits.chain.contracts.weth, user, offer.depositAddress, INPUT_AMOUNT)
    expect(await ended).toBe('UNCERTAIN')
  })
})
