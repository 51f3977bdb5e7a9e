import { type SendDepositOptions, sendDeposit } from '@quote-aggregator/client'
import type { Address } from 'viem'
import { describe, expect, it } from 'vitest'
import { INPUT_AMOUNT, user } from '../../support/chain/settlement.js'
import { called, DEPOSITED, keep, reasonOf, useDeposits } from '../../support/clients/deposits.js'

const deposits = useDeposits()
const { walletOf, terms, offerOf, stateOf } = deposits

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
    await sendDeposit(client, offer, await terms())
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
    const second = sendDeposit(client, offer, await terms(), { earlier })
    await deposits.chain.client.mine({ blocks: 1 })
    await second
    expect(called(prompts)).toEqual(['deposit'])
    expect(await stateOf(offer)).toBe(DEPOSITED)
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
      await deposits.chain.client.setAutomine(false)
      const offer = await offerOf()
      const app = keep(options)
      expect(await reasonOf(sendDeposit(client, offer, await terms(), app.options))).toBe('UNCERTAIN')
      await deposits.chain.client.mine({ blocks: 1 })
      await sendDeposit(client, offer, await terms(), { ...options, earlier: app.told.at(-1) })
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
})
