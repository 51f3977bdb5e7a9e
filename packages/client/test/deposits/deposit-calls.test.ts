import { decodeFunctionData, erc20Abi } from 'viem'
import { expect, it } from 'vitest'
import { depositTransfer, type SignedQuote } from '../../src/index.js'

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

it('depositTransfer transfers the input amount to the deposit address', () => {
  const transfer = depositTransfer(offer)
  expect([transfer.to, transfer.value]).toEqual([offer.quote.inputToken, 0n])
  expect(decodeFunctionData({ abi: erc20Abi, data: transfer.data })).toEqual({
    functionName: 'transfer',
    args: [offer.depositAddress, offer.quote.inputAmount],
  })
})
