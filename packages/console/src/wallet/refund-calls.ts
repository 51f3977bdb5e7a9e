import { type NoRefund, type PreparedRefund, prepareRefund, refundCall } from '@quote-aggregator/client'
import type { Address, Hex } from 'viem'
import type { Chain } from '../../../../gen/aggregator/v1/chain_pb.js'
import type { Offer } from '../data/auction/auction.js'
import { shorten } from '../format/shorten.js'
import { wallet } from './connected-wallet.js'
import { readTerms, switchChain } from './provider.js'
import { sendCall } from './send.js'
import { toSignedQuote } from './signed-quote.js'

/** Returns the input of an order that the solver has not filled in time. @throws what the wallet throws */
export async function refundOrder(chain: Chain, orderId: string): Promise<void> {
  await switchChain(chain)
  const contract = { settlement: chain.settlement as Address }
  await sendCall(refundCall({ orderId: orderId as Hex }, contract), Number(chain.chainId))
}

/** How what was sent for an offer can be taken back now. @throws what the wallet throws */
export async function planRefund(
  chain: Chain,
  offer: Offer,
  token?: string,
): Promise<PreparedRefund | NoRefund> {
  return prepareRefund(toSignedQuote(offer), await readTerms(chain), token as Address | undefined)
}

/** Takes back what was sent for an offer: the first thing that can be. @throws Error when nothing can be; what the wallet throws */
export async function refundOffer(chain: Chain, offer: Offer, token?: string): Promise<void> {
  await switchChain(chain)
  const plan = await planRefund(chain, offer, token)
  if ('none' in plan) throw new Error(plan.none)
  const { call, sender } = plan
  if (sender !== undefined && sender.toLowerCase() !== wallet.peek()?.address.toLowerCase())
    throw new Error(`Only the account ${shorten(sender)} can take this back.`)
  await sendCall(call, Number(chain.chainId))
}
