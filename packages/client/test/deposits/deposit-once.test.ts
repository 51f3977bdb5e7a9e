import type { DepositProgress } from '@quote-aggregator/client'
import { createWalletClient, custom, type Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { INPUT_AMOUNT, user } from '../../../../test/support/chain/settlement.js'
import { called, DEPOSITED, useDeposits } from '../../../../test/support/clients/deposits.js'
import type { WalletRequest } from '../../../../test/support/clients/mock-wallet.js'
import { deferred } from '../../../../test/support/deferred.js'

const deposits = useDeposits()
const { node, walletOf, terms, offerOf, stateOf, begin, allow, holdBlocks, mine, passDeadline, held } =
  deposits
const ADDRESS = { depositMode: 'ADDRESS' } as const
const MODES = ['CONTRACT', 'ADDRESS'] as const

describe('a deposit is never sent twice:', () => {
  const lose = () => {
    throw new TypeError('Failed to fetch')
  }

  it('two calls at once ask once', async () => {
    const answer = deferred()
    const { client, prompts } = walletOf({ batches: 'supported', onPrompt: () => answer.opened })
    const first = await begin(client)
    await expect.poll(() => prompts).toHaveLength(1)
    let requests = 0
    const settlement = await terms((request) => {
      requests++
      return node(request)
    })
    requests = 0
    const second = await begin(client, {}, { offer: first.offer, settlement })
    // One that does not wait for the first reads the chain at once.
    await deposits.chain.client.getBlockNumber({ cacheTime: 0 })
    expect(requests).toBe(0)
    answer.open()
    expect(await Promise.all([first.ended, second.ended])).toEqual(['there', 'there'])
    expect(prompts).toHaveLength(1)
  })

  it.each(['before', 'while'])(
    'a call goes on when the signal of the first one ends that %s the wallet is asked',
    async (when) => {
      const answer = deferred()
      await allow()
      const { client, prompts } = walletOf({ onPrompt: () => answer.opened })
      const offer = await offerOf()
      const settlement = await terms()
      const leaving = new AbortController()
      const first = await begin(client, { signal: leaving.signal }, { offer, settlement })
      if (when === 'while') await expect.poll(() => prompts).toHaveLength(1)
      const second = await begin(client, { signal: new AbortController().signal }, { offer, settlement })
      const left = new Error('left')
      leaving.abort(left)
      expect(await first.ended).toBe(left)
      answer.open()
      // Nobody knows what a prompt that is open will bring.
      expect(when === 'while' ? ['there', 'UNCERTAIN'] : ['there']).toContain(await second.ended)
      expect(prompts).toHaveLength(1)
    },
  )

  it('one that is there is found, also after a refund when it was seen', async () => {
    const { client, prompts } = walletOf({ batches: 'supported' })
    const { offer, told, ended } = await begin(client)
    expect(await ended).toBe('there')
    const follow = async (earlier?: DepositProgress) => (await begin(client, { earlier }, { offer })).ended
    expect(await follow()).toBe('there')
    await passDeadline(offer.quote.fillDeadline)
    await deposits.chain.send(user, 'refund', [offer.orderId])
    expect(await follow(told.at(-1))).toBe('there')
    // Others can end an order without a deposit of the user.
    expect(await follow({ step: 'deposit', state: 'asked' })).toBe('UNCERTAIN')
    expect(prompts).toHaveLength(1)
  })

  it.each(['wallet_sendCalls', 'eth_sendTransaction'])('when the answer to %s is lost', async (method) => {
    if (method === 'eth_sendTransaction') await allow()
    const batches = method === 'wallet_sendCalls' && ({ batches: 'supported' } as const)
    const { client, prompts } = walletOf({ ...batches, onCarriedOut: lose })
    await holdBlocks()
    const { offer, told, ended } = await begin(client)
    expect(await ended).toBe('UNCERTAIN')
    await mine()
    const again = await begin(client, { earlier: told.at(-1) }, { offer })
    expect(await again.ended).toBe('there')
    expect([prompts.length, await stateOf(offer)]).toEqual([1, DEPOSITED])
  })

  it.each(MODES)(
    'in mode %s, when the node has an account of the app send it and its answer is lost',
    async (depositMode) => {
      await allow()
      await holdBlocks()
      const sent: string[] = []
      const request = async (asked: WalletRequest) => {
        const answer = await node(asked)
        if (asked.method !== 'eth_sendRawTransaction') return answer
        sent.push(`${answer}`)
        return lose()
      }
      const client = createWalletClient({ account: user, transport: custom({ request }) })
      const { offer, told, ended } = await begin(client, { depositMode })
      expect(await ended).toBe('UNCERTAIN')
      expect(told.at(-1)).toEqual({ step: 'deposit', state: 'asked', hash: sent[0] })
      const again = await begin(client, { depositMode, earlier: told.at(-1) }, { offer })
      await mine()
      expect([await again.ended, again.steps(), sent.length]).toEqual(['there', ['deposit mined'], 1])
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
    await holdBlocks()
    const { steps, ended } = await begin(client)
    expect([await ended, steps(), prompts.length]).toEqual(['UNCERTAIN', ['deposit asked'], 1])
  })

  it.each([4001, -32000])('one that the wallet has refused with %i is asked for again', async (code) => {
    let isRefused = true
    const refuse = () => {
      if (isRefused) throw Object.assign(new Error('User rejected the request.'), { code })
    }
    const { client, prompts } = walletOf({ batches: 'supported', onPrompt: refuse })
    const { offer, told, steps, ended } = await begin(client)
    expect(await ended).toMatchObject({ code })
    expect(steps()).toEqual(['deposit asked', 'deposit refused'])
    isRefused = false
    expect(await (await begin(client, { earlier: told.at(-1) }, { offer })).ended).toBe('there')
    expect([prompts.length, await stateOf(offer)]).toEqual([2, DEPOSITED])
  })
})

describe('a deposit after an approval', () => {
  it('is not begun when it is not known whether the approval was given', async () => {
    const { client } = walletOf({
      onPrompt() {
        throw Object.assign(new Error('Internal JSON-RPC error.'), { code: -32000 })
      },
    })
    const { steps, ended } = await begin(client)
    expect([await ended, steps()]).toEqual(['APPROVAL_UNCERTAIN', ['approve asked']])
  })

  it('waits while the node of the wallet cannot be reached, and no second approval is asked for', async () => {
    const { client, prompts } = walletOf({
      onCarriedOut() {
        if (prompts.length === 1) deposits.setConnected(false)
      },
    })
    const { steps, ended } = await begin(client)
    await expect.poll(steps).toEqual(['approve asked', 'approve sent'])
    deposits.setConnected(true)
    expect([await ended, called(prompts)]).toEqual(['there', ['approve', 'deposit']])
  })
})

it.each(['the id of its batch', 'the hash of its transaction'])(
  'a deposit after a reload is followed by %s',
  async (by) => {
    await allow()
    await holdBlocks()
    const { client, prompts } = walletOf(by === 'the id of its batch' ? { batches: 'supported' } : {})
    const leaving = new AbortController()
    const { offer, told, steps, ended } = await begin(client, { signal: leaving.signal })
    await expect.poll(steps).toContain('deposit sent')
    const closed = new Error('the page is closed')
    leaving.abort(closed)
    expect(await ended).toBe(closed)
    const after = await begin(client, { earlier: JSON.parse(JSON.stringify(told.at(-1))) }, { offer })
    await mine()
    expect([await after.ended, after.steps(), prompts.length]).toEqual(['there', ['deposit mined'], 1])
  },
)

describe('a deposit to the address', () => {
  it('is not sent again after an error of the wallet that may come after the transfer', async () => {
    const { client, prompts } = walletOf({
      onCarriedOut() {
        throw Object.assign(new Error('already known'), { code: -32000 })
      },
    })
    await holdBlocks()
    const { offer, told, ended } = await begin(client, ADDRESS)
    expect(await ended).toBe('UNCERTAIN')
    await mine()
    const again = await begin(client, { ...ADDRESS, earlier: told.at(-1) }, { offer })
    const ends = [await again.ended, called(prompts), await held(offer)]
    expect(ends).toEqual(['there', ['transfer'], INPUT_AMOUNT])
  })

  it('is not sent when the tokens are there, also from elsewhere', async () => {
    const { client, prompts } = walletOf()
    const offer = await offerOf()
    await deposits.chain.transfer(deposits.chain.contracts.weth, user, offer.depositAddress, INPUT_AMOUNT)
    const { ended } = await begin(client, ADDRESS, { offer })
    expect([await ended, prompts]).toEqual(['there', []])
  })

  it('tells while the prompt is open until when to confirm, and then that it is late, after a reload too; what comes late is no success', async () => {
    const prompt = deferred()
    const { client, prompts } = walletOf({ onPrompt: () => prompt.opened })
    const { offer, told, steps, ended } = await begin(client, ADDRESS)
    const { depositDeadline } = offer.quote
    await expect.poll(() => prompts).toHaveLength(1)
    expect(told[0]?.confirmBy).toBe(depositDeadline - 120)
    await passDeadline(depositDeadline - 120)
    await expect.poll(steps).toEqual(['deposit asked', 'deposit late'])
    await passDeadline(depositDeadline)
    prompt.open()
    expect(await ended).toBe('UNCERTAIN')
    const again = await begin(client, { ...ADDRESS, earlier: told[0] ?? null }, { offer })
    expect([await again.ended, again.steps(), prompts.length]).toEqual(['UNCERTAIN', ['deposit late'], 1])
  })

  it('is not called expired while the transfer may still come, nor a success when it comes too late', async () => {
    await holdBlocks()
    const { offer, told, steps, ended } = await begin(walletOf().client, ADDRESS)
    await expect.poll(steps).toContain('deposit sent')
    await deposits.chain.client.dropTransaction({ hash: told.at(-1)?.hash as Hex })
    await passDeadline(offer.quote.depositDeadline)
    // Enough for several looks at the chain.
    const enough = deposits.requests() + 40
    await expect.poll(() => deposits.requests()).toBeGreaterThan(enough)
    await deposits.chain.client.setAutomine(true)
    await deposits.chain.transfer(deposits.chain.contracts.weth, user, offer.depositAddress, INPUT_AMOUNT)
    expect(await ended).toBe('UNCERTAIN')
  })
})
