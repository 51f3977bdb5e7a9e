import { decodeFunctionData, erc20Abi } from 'viem'
import { expect, it } from 'vitest'
import { settlementAbi } from '../../../gen/contracts/settlement.js'
import { depositCalls, depositTransfer, type SignedQuote } from '../src/index.js'

const settlement = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512'
const offer: SignedQuote = {
  quote: {
    solver: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
    user: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
    inputAmount: 10n ** 18n,
    outputToken: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
    outputAmount: 2_498_750_000n,
    orderType: 'EXACT_OUTPUT',
    outputChainId: 31337,
    depositDeadline: 1_000_300,
    fillDeadline: 1_000_420,
    nonce: 2n ** 255n,
  },
  signature: `0x${'12'.repeat(65)}`,
  orderId: `0x${'ab'.repeat(32)}`,
  depositAddress: '0xcbaFCeE9c503Bfb9Ad2A7d1b2AEEB7DD9Ea7df6F',
}

it('approves the input amount and no more, then deposits the quote', () => {
  const [approval, deposit] = depositCalls(offer, { settlement })
  expect([approval.to, approval.value]).toEqual([offer.quote.inputToken, 0n])
  expect(decodeFunctionData({ abi: erc20Abi, data: approval.data })).toEqual({
    functionName: 'approve',
    args: [settlement, offer.quote.inputAmount],
  })
  expect([deposit.to, deposit.value]).toEqual([settlement, 0n])
  expect(decodeFunctionData({ abi: settlementAbi, data: deposit.data })).toEqual({
    functionName: 'deposit',
    args: [{ ...offer.quote, orderType: 1, outputChainId: 31337n }, offer.signature],
  })
})

it('transfers the input amount to the deposit address', () => {
  const transfer = depositTransfer(offer)
  expect([transfer.to, transfer.value]).toEqual([offer.quote.inputToken, 0n])
  expect(decodeFunctionData({ abi: erc20Abi, data: transfer.data })).toEqual({
    functionName: 'transfer',
    args: [offer.depositAddress, offer.quote.inputAmount],
  })
})
