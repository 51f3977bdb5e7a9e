import type { DepositProgress } from '@quote-aggregator/client'
import type { Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { anyone, INPUT_AMOUNT, user } from '../../../../test/support/chain/settlement.js'
import { called, DEPOSITED, passTime, useDeposits } from '../../../../test/support/clients/deposits.js'
import { transferData } from '../../../protocol/src/settlement/token-calls.js'

const deposits = useDeposits()
const {
  node,
  walletOf,
  walletAnswering,
  terms,
  offerOf,
  stateOf,
  begin,
  allow,
  holdBlocks,
  mine,
  replaceLast,
} = deposits
const ADDRESS = { depositMode: 'ADDRESS' } as const

/** The hash of a transaction that has reverted. */
function reverted(from: Hex = user.address): Promise<Hex> {
  const { client, contracts } = deposits.chain
  const params = [{ from, to: contracts.settlement, data: '0x12345678', gas: '0x30d40' }]
  return client.request({ method: 'eth_sendTransaction', params } as never)
}

/** Sends what it is asked to send, and answers something else. */
const answeringSent = (answer: unknown) =>
  walletAnswering(async ({ method }, own) => {
    const usual = await own()
    return method === 'eth_sendTransaction' ? answer : usual
  })

/** Sends batches, and answers them with what the test says. */
const answeringBatches = (answer: unknown, status: () => Promise<unknown>) =>
  walletAnswering(async ({ method }, own) => {
    if (method === 'wallet_getCallsStatus') return status()
    const usual = await own()
    return method === 'wallet_sendCalls' ? answer : usual
  }, 'supported')

describe('a wallet with answers of its own', () => {
  const forgetful = () => Promise.reject(Object.assign(new Error('unknown bundle'), { code: 5730 }))

  it.each([
    ['the id alone, as in version 1', 'batch 0', forgetful],
    ['an id that it does not know later', { id: 'batch 0' }, forgetful],
    ['an id, and nothing later', { id: 'batch 0' }, () => new Promise(() => {})],
  ])('is asked once, and the chain says that the deposit is there: %s', async (_, answer, status) => {
    const { client, prompts } = answeringBatches(answer, status)
    const { offer, ended } = await begin(client)
    expect([await ended, prompts.length, await stateOf(offer)]).toEqual(['there', 1, DEPOSITED])
  })

  it.each([null, '', {}, { id: 17 }])('is not asked again after the answer %j', async (answer) => {
    const { client, prompts } = answeringBatches(answer, forgetful)
    await (await begin(client)).ended
    expect(prompts).toHaveLength(1)
  })

  it.each([null, [], {}, { '0x7a69': null }, { '0x1': { atomic: { status: 'supported' } } }, 'yes'])(
    'gets transactions when its capabilities say nothing of batches: %j',
    async (capabilities) => {
      const { client, prompts } = walletAnswering(
        ({ method }, own) => (method === 'wallet_getCapabilities' ? capabilities : own()),
        'supported',
      )
      const { ended } = await begin(client)
      expect([await ended, called(prompts)]).toEqual(['there', ['approve', 'deposit']])
    },
  )

  it.each([null, '', {}, 17])('is not asked again after the answer %j to a transaction', async (answer) => {
    const { client, prompts } = answeringSent(answer)
    await holdBlocks()
    const { offer, ended } = await begin(client, ADDRESS)
    expect(await ended).toBe('UNCERTAIN')
    const earlier = { step: 'deposit', state: 'sent', hash: answer } as DepositProgress
    await mine()
    const again = await begin(client, { ...ADDRESS, earlier }, { offer })
    expect([await again.ended, prompts.length]).toEqual(['there', 1])
  })

  it.each(['CONTRACT', 'ADDRESS'] as const)(
    'in mode %s, on another network since the first look, is asked for nothing',
    async (depositMode) => {
      await allow()
      let served = 0
      const { client, prompts } = walletOf({
        node: (asked) =>
          asked.method === 'eth_chainId' && served++ > 0 ? Promise.resolve('0x2105') : node(asked),
      })
      const { steps, ended } = await begin(client, { depositMode })
      expect(await ended).toMatchObject({ message: expect.stringContaining('chain') })
      expect([steps(), prompts]).toEqual([[], []])
    },
  )

  it('may replace a transfer of a token that keeps a fee: less than the input is there', async () => {
    await holdBlocks()
    const { offer, told, steps, ended } = await begin(walletOf().client, ADDRESS)
    await expect.poll(steps).toContain('deposit sent')
    await passTime(deposits, 0)
    await replaceLast(told, { data: transferData(offer.depositAddress, INPUT_AMOUNT - 1n) })
    await mine()
    await passTime(deposits, 61)
    expect(await ended).toBe('UNCERTAIN')
  })

  it('may name its transactions by what no node knows', async () => {
    const { client, prompts } = answeringSent('operation 1')
    const { offer, ended } = await begin(client)
    expect([await ended, called(prompts)]).toEqual(['there', ['approve', 'deposit']])
    expect(await stateOf(offer)).toBe(DEPOSITED)
  })

  it('may name a bundle of others that reverts, before the next one has its transfer', async () => {
    const bundle = await reverted(anyone.address)
    const { client } = walletAnswering(({ method }, own) =>
      method === 'eth_sendTransaction' ? bundle : own(),
    )
    const { steps, ended } = await begin(client, ADDRESS)
    await expect.poll(steps).toContain('deposit sent')
    await passTime(deposits, 30)
    await passTime(deposits, 31)
    expect(await ended).toBe('UNCERTAIN')
  })

  it.each(['the wallet', 'the node before the wallet is asked', 'the node after that'])(
    'may never answer, as its node: a signal ends the wait for %s',
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

  it('may be of another account now: what was sent is followed', async () => {
    const { offer, ended } = await begin(walletOf().client)
    expect(await ended).toBe('there')
    const { client } = walletOf({ account: anyone.address })
    const earlier = { step: 'deposit', state: 'asked' } as const
    expect(await (await begin(client, { earlier }, { offer })).ended).toBe('there')
  })
})
