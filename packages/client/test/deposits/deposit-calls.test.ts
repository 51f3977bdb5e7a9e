import { decodeFunctionData, erc20Abi } from 'viem'
import { expect, it } from 'vitest'
import { settlementAbi } from '../../../../gen/contracts/settlement.js'
import { only } from '../../../../test/support/only.js'
import { depositTransfer, refundCall, type SignedQuote } from '../../src/index.js'
import { ADDRESS, orderIdOf } from '../samples.js'

const depositAddress = '0xcbaFCeE9c503Bfb9Ad2A7d1b2AEEB7DD9Ea7df6F'
const settlement = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512'
const quote = { inputToken: ADDRESS, inputAmount: 10n ** 18n }
const offer = only<SignedQuote>({ quote, depositAddress, orderId: orderIdOf(1) })

it('depositTransfer transfers the input amount to the deposit address', () => {
  const { to, value, data } = depositTransfer(offer)
  expect([to, value]).toEqual([ADDRESS, 0n])
  const args = [depositAddress, quote.inputAmount]
  expect(decodeFunctionData({ abi: erc20Abi, data })).toEqual({ functionName: 'transfer', args })
})

it('refundCall names the order, at the settlement contract', () => {
  const { to, value, data } = refundCall(offer, { settlement })
  expect([to, value]).toEqual([settlement, 0n])
  const args = [offer.orderId]
  expect(decodeFunctionData({ abi: settlementAbi, data })).toEqual({ functionName: 'refund', args })
})
