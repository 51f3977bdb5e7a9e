import { toHex } from 'viem'
import { describe, expect, it, vi } from 'vitest'
import { RULES } from '../../../../test/support/chain/chain.js'
import { INPUT_AMOUNT, solver } from '../../../../test/support/chain/settlement.js'
import { useDeposits } from '../../../../test/support/clients/deposits.js'
import type { WalletRequest } from '../../../../test/support/clients/mock-wallet.js'
import { nonceWithMode } from '../../../protocol/src/quotes/nonce-mode.js'
import { toContractQuote } from '../../../protocol/src/quotes/quote.js'

const ADDRESS = { depositMode: 'ADDRESS' } as const

describe.each(RULES)('with the %s contract', (rules) => {
  const deposits = useDeposits(rules)
  const { node, walletOf, terms, offerOf, begin, held, passDeadline } = deposits

  describe('an offer that must not be taken', () => {
    const limits = { maxInputAmount: INPUT_AMOUNT, minOutputAmount: 2n ** 255n }
    it.each([
      ['beyond the limits', { limits }, 'price_too_bad'],
      ['for the other mode', ADDRESS, 'mode_mismatch'],
    ] as const)('%s is refused before the wallet is asked', async (_, options, problem) => {
      const { client, prompts } = walletOf()
      const offer = await offerOf({ nonce: nonceWithMode('CONTRACT', 7n) })
      const { ended } = await begin(client, options, { offer })
      expect(await ended).toMatchObject({ problems: [problem] })
      expect(prompts).toEqual([])
    })

    it('after the click is the one of the click, also when a store changes it in place', async () => {
      const offer = await offerOf()
      const { ended } = await begin(walletOf().client, ADDRESS, { offer })
      Object.assign(offer.quote, { inputAmount: INPUT_AMOUNT - 1n })
      expect([await ended, await held(offer)]).toEqual(['there', INPUT_AMOUNT])
    })

    const asJson = JSON.stringify({ step: 'deposit', state: 'asked' })
    const odd = [asJson, ['deposit'], true, { step: 'Deposit', state: 'sent' }, { step: 'deposit' }]
    it.each([
      { limits: undefined },
      { ...ADDRESS, params: { depositMode: 'CONTRACT' } },
      ...odd.map((earlier) => ({ earlier })),
    ])('with no limits, two modes or an odd `earlier` is an error before any call (%#)', async (options) => {
      const { client, prompts } = walletOf()
      const offer = await offerOf()
      const settlement = await terms()
      const before = deposits.requests()
      const { ended } = await begin(client, options as never, { offer, settlement })
      expect(await ended).toBeInstanceOf(TypeError)
      expect([deposits.requests(), prompts]).toEqual([before, []])
    })
  })

  describe('a transfer', () => {
    it.each([
      ['after the deadline', 0],
      ['after the deadline, with a node whose blocks come from one that is behind', 1],
      ['after the solver has cancelled', 0],
    ])('that the user confirms %s is no success', async (when, behind) => {
      const { client: chain } = deposits.chain
      const settlement = await terms(async (request) => {
        if (request.method !== 'eth_getBlockByNumber') return node(request)
        const newest = Number(await node({ method: 'eth_blockNumber', params: [] }))
        return node({ ...request, params: [toHex(newest - behind), false] })
      })
      const offer = await offerOf()
      const { client } = walletOf({
        async onPrompt() {
          const timestamp = BigInt(offer.quote.depositDeadline + 3)
          if (when === 'after the solver has cancelled')
            await deposits.chain.send(solver, 'cancelNonce', [offer.quote.nonce])
          else await chain.setNextBlockTimestamp({ timestamp })
        },
      })
      const { steps, ended } = await begin(client, ADDRESS, { offer, settlement })
      await expect.poll(steps).toContain('deposit sent')
      for (let blocks = 0; blocks < behind; blocks++) await deposits.mine()
      expect([await ended, await held(offer)]).toEqual(['UNCERTAIN', INPUT_AMOUNT])
    })

    it.each(['eth_getCode', 'eth_getTransactionCount', 'eth_chainId'])(
      'is not asked for when the time ends while %s is read',
      async (method) => {
        const offer = await offerOf()
        let isAsleep = false
        const sleeping = async (request: WalletRequest) => {
          if (request.method === method && isAsleep)
            vi.useFakeTimers({ toFake: ['Date'], now: (offer.quote.depositDeadline - 119) * 1000 })
          return node(request)
        }
        const settlement = await terms(sleeping)
        const { client, prompts } = walletOf({ node: sleeping })
        isAsleep = true
        const { ended } = await begin(client, ADDRESS, { offer, settlement })
        expect([await ended, prompts]).toEqual(['TOO_LATE_FOR_TRANSFER', []])
      },
    )
  })

  it.runIf(rules === 'deployed').each(['CONTRACT', 'ADDRESS'] as const)(
    'an order in mode %s that others have ended is no success',
    async (depositMode) => {
      const offer = await offerOf()
      await passDeadline(offer.quote.fillDeadline)
      const args = [toContractQuote(offer.quote), offer.signature, deposits.chain.contracts.usdc] as const
      await deposits.chain.send(solver, 'deployAndRecover', args)
      const { client, prompts } = walletOf()
      for (const earlier of [undefined, { step: 'deposit', state: 'asked' } as const])
        expect(await (await begin(client, { depositMode, earlier }, { offer })).ended).toBe('UNCERTAIN')
      expect(prompts).toEqual([])
    },
  )
})
