import { refundCall, refundTransfer } from '@quote-aggregator/client'
import type { Address, Hex } from 'viem'
import type { Chain } from '../../../../gen/aggregator/v1/chain_pb.js'
import type { Offer } from '../data/auction/auction.js'
import { readBalance, switchChain } from './provider.js'
import { sendCall } from './send.js'
import { toSignedQuote } from './signed-quote.js'

/** Returns the input of an order that the solver has not filled in time. @throws what the wallet throws */
export async function refundOrder(chain: Chain, orderId: string): Promise<void> {
  await switchChain(Number(chain.chainId))
  await sendCall(refundCall({ orderId: orderId as Hex }, contractOf(chain)), Number(chain.chainId))
}

/**
 * Returns the tokens at the deposit address of an offer to its user, after the fill deadline.
 * @throws Error when no tokens are there; what the wallet throws
 */
export async function refundAddressDeposit(chain: Chain, offer: Offer): Promise<void> {
  await switchChain(Number(chain.chainId))
  const signedQuote = toSignedQuote(offer)
  if ((await readBalance(signedQuote.quote.inputToken, signedQuote.depositAddress)) === 0n)
    throw new Error('No tokens are at the deposit address.')
  await sendCall(refundTransfer(signedQuote, contractOf(chain)), Number(chain.chainId))
}

const contractOf = ({ settlement }: Chain) => ({ settlement: settlement as Address })
