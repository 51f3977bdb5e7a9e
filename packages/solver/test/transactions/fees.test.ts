import { expect, it } from 'vitest'
import { namedFee } from '../../src/transactions/fees.js'

it.each([
  ['transaction underpriced: gas tip cap 1, minimum needed 25', 25n],
  ['max fee per gas less than block base fee: address 0x99, maxFeePerGas: 10 baseFee: 30', 30n],
  ['FeeTooLow, EffectivePriorityFeePerGas too low 10 < 31', 31n],
  ['insufficient fee; got: 20aevmos required: 36aevmos', 0n],
  ['max fee per gas less than block base fee: maxFeePerGas: 10 baseFee: 101', 10n],
  ['transaction underpriced', 0n],
  ['insufficient funds for gas * price + value: have 29 want 200000', 0n],
  ['nonce too low: next nonce 70', 0n],
])('a refusal that says "%s" names a fee of %i', (words, fee) => {
  expect(namedFee(words, 100n)).toBe(fee)
})
