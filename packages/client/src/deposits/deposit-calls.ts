import type { Address, Client, Hex } from 'viem'
import { call } from 'viem/actions'
import { isNodeAnswer } from '../../../protocol/src/node/node-answer.js'
import { readView } from '../../../protocol/src/node/read-view.js'
import type { DepositMode, Quote, SignedQuote } from '../../../protocol/src/quotes/quote.js'
import { depositData } from '../../../protocol/src/settlement/settlement-of-chain.js'
import { allowance, approveData, transferData } from '../../../protocol/src/settlement/token-calls.js'
import type { SettlementTerms } from '../offers/settlement-terms.js'

/** A call of a contract, for viem's `sendTransaction`, or one of the calls of `sendCalls` (EIP-5792). */
export interface Call {
  readonly to: Address
  readonly data: Hex
  readonly value: bigint
}

/**
 * Makes the calls of a user for an offer in deposit mode CONTRACT, in this order: the approval of the input token for exactly
 * the input amount, then the deposit. Where the user's allowance suffices, there is no approval. Where the token refuses to
 * change an allowance that is not zero, as USDT does, an approval of zero comes first. Check the offer with `verifyQuote`
 * before.
 * @param options the result of `readSettlement`: the settlement contract of the offer's chain, and a client of a node of it
 * @throws ChainReadError and viem's errors when the node does not answer, or the input token is not a contract
 */
export async function depositCalls(
  offer: SignedQuote,
  options: Pick<SettlementTerms, 'client' | 'settlement'>,
): Promise<Call[]> {
  const { client, settlement } = options
  const approvals = await approvalCalls(client, offer.quote, settlement)
  return [...approvals, depositCall(offer, options, 'CONTRACT')]
}

/** The call that gives the input: a deposit by the contract, or a transfer to the deposit address. */
export function depositCall(
  offer: SignedQuote,
  { settlement }: Pick<SettlementTerms, 'settlement'>,
  mode: DepositMode,
): Call {
  if (mode === 'ADDRESS') return depositTransfer(offer)
  return { to: settlement, data: depositData(offer.quote, offer.signature), value: 0n }
}

/** Makes the calls that raise the allowance to the input amount. */
async function approvalCalls(
  client: Client,
  { inputToken: token, user: owner, inputAmount: amount }: Quote,
  spender: Address,
): Promise<Call[]> {
  const allowed = await readView(client.request, token, allowance(owner, spender))
  if (allowed >= amount) return []
  const approve = (value: bigint): Call => ({ to: token, data: approveData(spender, value), value: 0n })
  const isChangeable = allowed === 0n || (await isAccepted(client, owner, approve(amount)))
  return isChangeable ? [approve(amount)] : [approve(0n), approve(amount)]
}

/**
 * Whether a token would accept an approval in the latest block. Old tokens return nothing instead of `true`. Nodes word a revert
 * in their own ways, so that each error response is a no: setting the allowance to zero first does no harm.
 */
async function isAccepted(client: Client, owner: Address, { to, data }: Call): Promise<boolean> {
  try {
    const { data: returned = '0x' } = await call(client, { account: owner, to, data })
    return returned === '0x' || BigInt(returned) !== 0n
  } catch (error) {
    if (isNodeAnswer(error)) return false
    throw error
  }
}

/**
 * Makes the call of a user for an offer in deposit mode ADDRESS: a transfer of the input amount to the deposit address. Check
 * the offer with `verifyQuote` before, because tokens that reach another address are lost.
 */
export function depositTransfer(offer: SignedQuote): Call {
  const { quote, depositAddress } = offer
  return { to: quote.inputToken, data: transferData(depositAddress, quote.inputAmount), value: 0n }
}
