import { sendDeposit } from '@quote-aggregator/client'
import { type Hex, toHex } from 'viem'
import { describe, expect, it, vi } from 'vitest'
import { nonceWithMode } from '../../../packages/protocol/src/quotes/nonce-mode.js'
import { RULES } from '../../support/chain/chain.js'
import { INPUT_AMOUNT, solver } from '../../support/chain/settlement.js'
import { keep, reasonOf, TAKE, useDeposits } from '../../support/clients/deposits.js'
import type { WalletRequest } from '../../support/clients/mock-wallet.js'

describe.each(RULES)('with the %s contract', (rules) => {
  const deposits = useDeposits(rules)
  const { node, walletOf, terms, offerOf } = deposits
  const held = (address: Hex) => deposits.chain.balanceOf(deposits.chain.contracts.weth, address)

  describe('an offer that must not be taken', () => {
    const cheap = { maxInputAmount: INPUT_AMOUNT, minOutputAmount: 2n ** 255n }
    const toAddress = { ...TAKE, depositMode: 'ADDRESS' } as const
    const depositDeadline = 4_000_000_000
    it.each([
      ['beyond the limits', { limits: cheap }, {}, ['price_too_bad']],
      ['for the other mode', toAddress, { nonce: nonceWithMode('CONTRACT', 7n) }, ['mode_mismatch']],
      ['that pays on another chain', toAddress, { outputChainId: 10n }, ['output_chain_mismatch']],
      [
        'without time between its deadlines',
        toAddress,
        { depositDeadline, fillDeadline: depositDeadline },
        ['fill_deadline_too_early'],
      ],
    ] as const)('%s is refused before the wallet is asked', async (_, options, changes, problems) => {
      const { client, prompts } = walletOf()
      const sending = sendDeposit(client, await offerOf(changes), await terms(), options)
      await expect(sending).rejects.toMatchObject({ problems })
      expect(prompts).toEqual([])
    })

    it('after the click is the one of the click, also when a store changes it in place', async () => {
      const offer = await offerOf()
      const { client } = walletOf()
      const sending = sendDeposit(client, offer, await terms(), toAddress)
      Object.assign(offer.quote, { inputAmount: INPUT_AMOUNT - 1n })
      await sending
      expect(await held(offer.depositAddress)).toBe(INPUT_AMOUNT)
    })

    const asJson = JSON.stringify({ step: 'deposit', state: 'asked' })
    const odd = [asJson, ['deposit'], true, { step: 'Deposit', state: 'sent' }, { step: 'deposit' }]
    it.each([
      {},
      { ...TAKE, depositMode: 'ADDRESS', params: { depositMode: 'CONTRACT' } },
      undefined,
      ...odd.map((earlier) => ({ ...TAKE, earlier })),
    ])('with no limits, two modes or an odd `earlier` is an error before any call (%#)', async (options) => {
      const { client, prompts } = walletOf()
      const offer = await offerOf()
      const settlement = await terms()
      const before = deposits.requests()
      await expect(sendDeposit(client, offer, settlement, options as never)).rejects.toThrow(TypeError)
      expect([deposits.requests(), prompts]).toEqual([before, []])
    })

    it('whose nonce is used gets no transfer', async () => {
      const { client, prompts } = walletOf()
      const offer = await offerOf()
      await deposits.chain.send(solver, 'cancelNonce', [offer.quote.nonce])
      const options = { ...TAKE, depositMode: 'ADDRESS' } as const
      const problems = ['nonce_used']
      await expect(sendDeposit(client, offer, await terms(), options)).rejects.toMatchObject({ problems })
      expect(prompts).toEqual([])
    })
  })

  describe('a transfer', () => {
    const toAddress = { ...TAKE, depositMode: 'ADDRESS' } as const

    it.each([
      ['after the deadline', 0],
      ['after the deadline, with a node whose blocks come from one that is behind', 1],
      ['after the solver has cancelled', 0],
    ])('that the user confirms %s is no success', async (when, behind) => {
      const { client: chain } = deposits.chain
      const lagging = async (request: WalletRequest) => {
        if (request.method !== 'eth_getBlockByNumber') return node(request)
        const newest = Number(await node({ method: 'eth_blockNumber', params: [] }))
        return node({ ...request, params: [toHex(newest - behind), false] })
      }
      const offer = await offerOf()
      const { client } = walletOf({
        async onPrompt() {
          const timestamp = BigInt(offer.quote.depositDeadline + 3)
          if (when === 'after the solver has cancelled')
            await deposits.chain.send(solver, 'cancelNonce', [offer.quote.nonce])
          else await chain.setNextBlockTimestamp({ timestamp })
        },
      })
      const app = keep(toAddress)
      const ended = reasonOf(sendDeposit(client, offer, await terms(lagging), app.options))
      await expect.poll(app.steps).toContain('deposit sent')
      for (let blocks = 0; blocks < behind; blocks++) await chain.mine({ blocks: 1 })
      expect(await ended).toBe('UNCERTAIN')
      expect(await held(offer.depositAddress)).toBe(INPUT_AMOUNT)
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
        expect(await reasonOf(sendDeposit(client, offer, settlement, toAddress))).toBe(
          'TOO_LATE_FOR_TRANSFER',
        )
        expect(prompts).toEqual([])
      },
    )
  })

  it.runIf(rules === 'deployed').each(['CONTRACT', 'ADDRESS'] as const)(
    'an order in mode %s that others have ended is no success',
    async (depositMode) => {
      const offer = await offerOf()
      await deposits.chain.client.setNextBlockTimestamp({ timestamp: BigInt(offer.quote.fillDeadline + 1) })
      const args = [
        { ...offer.quote, orderType: 0, outputChainId: BigInt(offer.quote.outputChainId) },
        offer.signature,
        deposits.chain.contracts.usdc,
      ]
      await deposits.chain.send(solver, 'deployAndRecover' as never, args as never)
      const { client, prompts } = walletOf()
      for (const earlier of [undefined, { step: 'deposit', state: 'asked' } as const]) {
        const sending = sendDeposit(client, offer, await terms(), { ...TAKE, depositMode, earlier })
        expect(await reasonOf(sending)).toBe('UNCERTAIN')
      }
      expect(prompts).toEqual([])
    },
  )
})
