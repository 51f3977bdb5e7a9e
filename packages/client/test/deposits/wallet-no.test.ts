import { describe, expect, it } from 'vitest'
import { user } from '../../../../test/support/chain/settlement.js'
import { called, passTime, useDeposits } from '../../../../test/support/clients/deposits.js'
import type { WalletRequest } from '../../../../test/support/clients/mock-wallet.js'

/** What is a no, and what is none, is in wallet-refusal.test.ts. */
const CODE_OF_NO = { code: 4001, message: 'User rejected the request.' }
const WORDS_OF_NO = 'User rejected the request'
const TROUBLE = { code: -32000, message: 'already known' }
const UNREADABLE = Object.defineProperty({}, 'cause', {
  get() {
    throw new Error('cannot be read')
  },
})

const ADDRESS = { depositMode: 'ADDRESS' } as const
const MODES = [{ depositMode: 'CONTRACT' }, ADDRESS] as const

const deposits = useDeposits()
const { node, walletOf, terms, allow, begin } = deposits
const declining = (no: unknown) => walletOf({ onPrompt: () => Promise.reject(no) })
const silent = () =>
  terms((asked: WalletRequest) =>
    asked.method === 'eth_getTransactionCount' ? Promise.reject(new Error('busy')) : node(asked),
  )

describe('a wallet that has sent nothing', () => {
  it.each([CODE_OF_NO, WORDS_OF_NO])('says no to a call: %j', async (no) => {
    await allow()
    let isNo = true
    const { client, prompts } = walletOf({
      onPrompt() {
        if (isNo) throw no
      },
    })
    const { offer, told, steps, ended } = await begin(client)
    expect(await ended).not.toBe('UNCERTAIN')
    expect(steps()).toEqual(['deposit asked', 'deposit refused'])
    isNo = false
    const again = await begin(client, { earlier: told.at(-1) }, { offer })
    expect([await again.ended, called(prompts)]).toEqual(['there', ['deposit', 'deposit']])
  })

  it.each([
    [CODE_OF_NO, 0],
    [WORDS_OF_NO, 31],
  ] as const)('says no to a transfer: %j, which is believed after %i seconds', async (no, seconds) => {
    const { steps, ended } = await begin(declining(no).client, ADDRESS)
    if (seconds > 0) {
      await expect.poll(steps).toEqual(['deposit asked'])
      await passTime(deposits, seconds)
    }
    expect(await ended).not.toBe('UNCERTAIN')
    expect(steps()).toEqual(['deposit asked', 'deposit refused'])
  })
})

it.each([WORDS_OF_NO, TROUBLE])(
  'after a call that is mined, what a wallet says counts no more: %j',
  async (said) => {
    await allow()
    const { client } = walletOf({
      async onCarriedOut() {
        await deposits.mine()
        throw said
      },
    })
    expect(await (await begin(client)).ended).toBe('there')
  },
)

describe('a wallet that says no after it has sent', () => {
  const sent = (no: unknown) => walletOf({ onCarriedOut: () => Promise.reject(no) }).client

  it.each([CODE_OF_NO, WORDS_OF_NO].flatMap((no) => MODES.map((mode) => [mode.depositMode, no] as const)))(
    'is not believed in mode %s: %j',
    async (depositMode, no) => {
      await allow()
      await deposits.holdBlocks()
      const { steps, ended } = await begin(sent(no), { depositMode })
      expect([await ended, steps()]).toEqual(['UNCERTAIN', ['deposit asked']])
    },
  )

  it.each(MODES)(
    'has deposited when the chain has it, with %j, however seldom that is read',
    async (mode) => {
      await allow()
      const { client } = walletOf({
        async onCarriedOut() {
          await deposits.mine()
          throw CODE_OF_NO
        },
      })
      const settlement = await terms()
      const seldom = { ...settlement, client: { ...settlement.client, pollingInterval: 60_000 } }
      expect(await (await begin(client, mode, { settlement: seldom })).ended).toBe('there')
    },
  )

  describe('of an account with code, for which others send', () => {
    const bytecode = `0xef0100${'0d'.repeat(20)}` as const

    it('has words that do not count', async () => {
      await deposits.chain.client.setCode({ address: user.address, bytecode })
      expect(await (await begin(declining(WORDS_OF_NO).client, ADDRESS)).ended).toBe('UNCERTAIN')
    })

    it.each([
      ['is believed after 31 seconds in which nothing came', 0n],
      ['is not believed when tokens come meanwhile', 1n],
    ])('has a code that %s', async (_, comes) => {
      await deposits.chain.client.setCode({ address: user.address, bytecode })
      const { offer, steps, ended } = await begin(declining(CODE_OF_NO).client, ADDRESS)
      await expect.poll(steps).toEqual(['deposit asked'])
      await passTime(deposits, 10)
      expect(steps()).toEqual(['deposit asked'])
      const isNo = comes === 0n
      if (isNo) await passTime(deposits, 21)
      else await deposits.chain.mint(deposits.chain.contracts.weth, offer.depositAddress, comes)
      expect((await ended) === 'UNCERTAIN').toBe(!isNo)
      expect(steps()).toEqual(['deposit asked', ...(isNo ? ['deposit refused'] : [])])
    })
  })

  it.each([CODE_OF_NO, WORDS_OF_NO])(
    'is not believed in mode CONTRACT where the node does not say what its account has sent: %j',
    async (no) => {
      await allow()
      await deposits.holdBlocks()
      const { steps, ended } = await begin(sent(no), {}, { settlement: await silent() })
      expect([await ended, steps()]).toEqual(['UNCERTAIN', ['deposit asked']])
    },
  )

  it('is not asked for a transfer while the node does not say what its account has sent', async () => {
    const { client, prompts } = walletOf()
    const { ended } = await begin(client, ADDRESS, { settlement: await silent() })
    expect([await ended, prompts]).toMatchObject([{ message: expect.stringContaining('busy') }, []])
  })
})

it.each([TROUBLE, UNREADABLE])('trouble of a wallet is no decision of its user: %j', async (trouble) => {
  await allow()
  for (const mode of MODES) {
    const { steps, ended } = await begin(declining(trouble).client, mode)
    expect([await ended, steps()]).toEqual(['UNCERTAIN', ['deposit asked']])
  }
})

it.each([-32000, -32601, -32602])(
  'a wallet is asked by one method only, after the error %i',
  async (code) => {
    const methods: string[] = []
    const { client } = deposits.walletAnswering(async (asked, own) => {
      if (!/sendTransaction/.test(asked.method)) return own()
      methods.push(asked.method)
      await own()
      throw Object.assign(new Error('failed'), { code })
    })
    await deposits.holdBlocks()
    await (await begin(client, ADDRESS)).ended
    expect(methods).toEqual(['eth_sendTransaction'])
  },
)
