import type { DepositProgress } from '@quote-aggregator/client'
import { createWalletClient, custom, type Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { anyone, INPUT_AMOUNT, user } from '../../../../test/support/chain/settlement.js'
import { called, useDeposits } from '../../../../test/support/clients/deposits.js'
import type { WalletRequest } from '../../../../test/support/clients/mock-wallet.js'
import { deferred } from '../../../../test/support/deferred.js'

const deposits = useDeposits()
const { node, walletOf, terms, offerOf, begin, allow, holdBlocks, mine, passDeadline } = deposits
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
    await holdBlocks()
    const { offer, told, ended } = await begin(client, { onProgress: deposits.onProgress })
    expect(await ended).toBe('there')
    await deposits.chain.client.setAutomine(true)
    const follow = async (earlier?: DepositProgress) => (await begin(client, { earlier }, { offer })).ended
    expect(await follow()).toBe('there')
    await passDeadline(offer.quote.fillDeadline)
    await deposits.chain.send(user, 'refund', [offer.orderId])
    expect(await follow(told.at(-1))).toBe('there')
    // Others can end an order without a deposit of the user.
    expect(await follow({ step: 'deposit', state: 'asked' })).toBe('UNCERTAIN')
    expect(prompts).toHaveLength(1)
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
})

it('a deposit waits while the node of the wallet cannot be reached, and no second approval is asked for', async () => {
  const { client, prompts } = walletOf({
    onCarriedOut() {
      if (prompts.length === 1) deposits.setConnected(false)
    },
  })
  await holdBlocks()
  const { steps, ended } = await begin(client)
  await expect.poll(steps).toEqual(['approve asked', 'approve sent'])
  await mine()
  await deposits.chain.client.setAutomine(true)
  deposits.setConnected(true)
  expect([await ended, called(prompts)]).toEqual(['there', ['approve', 'deposit']])
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

it.each(['the wallet', 'the node before the wallet is asked', 'the node after that'])(
  'a signal ends the wait for %s, which may never answer',
  async (silent) => {
    const isFirst = silent === 'the node before the wallet is asked'
    let isSilent = false
    const settlement = await terms((request) => (isSilent ? new Promise(() => {}) : node(request)))
    const { client, prompts } = walletOf({
      onPrompt() {
        isSilent = silent !== 'the wallet'
        return new Promise(() => {})
      },
    })
    const leaving = new AbortController()
    const offer = await offerOf()
    isSilent = isFirst
    const { ended } = await begin(client, { signal: leaving.signal }, { offer, settlement })
    await expect.poll(() => prompts).toHaveLength(isFirst ? 0 : 1)
    const closed = new Error('the page is closed')
    leaving.abort(closed)
    expect(await ended).toBe(closed)
    // Nothing is left of it.
    expect(await (await begin(walletOf().client, {}, { offer })).ended).toBe('there')
  },
)

it('what was sent is followed also when the wallet has another account now', async () => {
  const { offer, ended } = await begin(walletOf().client)
  expect(await ended).toBe('there')
  const { client } = walletOf({ account: anyone.address })
  const earlier = { step: 'deposit', state: 'asked' } as const
  expect(await (await begin(client, { earlier }, { offer })).ended).toBe('there')
})
