import { sendDeposit } from '@quote-aggregator/client'
import type { Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { nonceWithMode } from '../../../packages/protocol/src/quotes/nonce-mode.js'
import { RULES } from '../../support/chain/chain.js'
import { INPUT_AMOUNT, solver } from '../../support/chain/settlement.js'
import { reasonOf, TAKE, useDeposits } from '../../support/clients/deposits.js'

describe.each(RULES)('with the %s contract', (rules) => {
  const deposits = useDeposits(rules)
  const { walletOf, terms, offerOf } = deposits
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
