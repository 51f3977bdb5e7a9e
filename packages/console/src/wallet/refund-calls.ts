import { type Address, encodeFunctionData, type Hex } from 'viem'
import type { Chain } from '../../../../gen/aggregator/v1/chain_pb.js'
import { toContractQuote } from '../../../../src/domain/quotes/quote.js'
import { CALLS_ABI } from '../../../protocol/src/settlement-of-chain.js'
import type { Offer } from '../data/auction.js'
import { readBalance, switchChain } from './provider.js'
import { sendCall } from './send.js'
import { toSignedQuote } from './signed-quote.js'

/** Returns the input of an order that the solver has not filled in time. @throws what the wallet throws */
export async function refundOrder(chain: Chain, orderId: string): Promise<void> {
  await switchChain(Number(chain.chainId))
  const data = encodeFunctionData({ abi: CALLS_ABI, functionName: 'refund', args: [orderId as Hex] })
  await sendCall({ to: chain.settlement as Address, data, value: 0n }, { chainId: Number(chain.chainId) })
}

/**
 * Returns the tokens at the deposit address of an offer to its user, after the fill deadline.
 * @throws Error when no tokens are there; what the wallet throws
 */
export async function refundAddressDeposit(chain: Chain, offer: Offer): Promise<void> {
  await switchChain(Number(chain.chainId))
  const { quote, signature, depositAddress } = toSignedQuote(offer)
  if ((await readBalance(quote.inputToken, depositAddress)) === 0n)
    throw new Error('No tokens are at the deposit address.')
  const args = [toContractQuote(quote), signature] as const
  const data = encodeFunctionData({ abi: CALLS_ABI, functionName: 'refundAddressDeposit', args })
  await sendCall({ to: chain.settlement as Address, data, value: 0n }, { chainId: Number(chain.chainId) })
}
