import {
  type Call,
  depositCalls,
  depositTransfer,
  readSettlement,
  type SettlementTerms,
  verifyQuote,
} from '@quote-aggregator/client'
import type { Address } from 'viem'
import type { Chain } from '../../../../gen/aggregator/v1/chain_pb.js'
import type { Offer } from '../data/auction.js'
import { sendCall, switchChain, walletClient } from './provider.js'
import { toSignedQuote } from './signed-quote.js'

/** A step of a swap that has begun or ended. */
export type ReportStep = (
  step: 'check' | 'approve' | 'deposit',
  state: 'active' | 'done',
  detail?: string,
) => void

/** What the user asked for: the offer must match it. */
export interface Wish {
  readonly inputToken: string
  readonly outputToken: string
  readonly isExactInput: boolean
  /** Of the fixed side, in the token's smallest unit. */
  readonly amount: bigint
  readonly user: string
  readonly mode: 'CONTRACT' | 'ADDRESS'
}

/**
 * Checks an offer against the request, the contract and its state, read through the user's wallet.
 * @throws QuoteVerificationError with all problems; what the wallet throws
 */
export async function verifyOffer(offer: Offer, wish: Wish, chain: Chain): Promise<SettlementTerms> {
  const chainId = Number(chain.chainId)
  await switchChain(chainId)
  const client = walletClient()
  // The instance also serves this page: it is trusted for the contract's address (docs/decisions.md, D21).
  const terms = await readSettlement(client, chain.settlement as Address, {
    protocolName: chain.protocolName,
  })
  await verifyQuote(toSignedQuote(offer), {
    ...terms,
    params: {
      chainId,
      inputToken: wish.inputToken as Address,
      outputToken: wish.outputToken as Address,
      orderType: wish.isExactInput ? 'EXACT_INPUT' : 'EXACT_OUTPUT',
      amount: wish.amount,
      user: wish.user as Address,
      depositMode: wish.mode,
    },
  })
  return terms
}

/** Checks an offer, approves its input where that is needed, and deposits it with the contract. @throws as its steps do */
export async function swapByContract(
  offer: Offer,
  wish: Wish,
  chain: Chain,
  report: ReportStep,
): Promise<void> {
  report('check', 'active')
  const terms = await verifyOffer(offer, wish, chain)
  report('check', 'done', 'signature, terms and bond are right')
  report('approve', 'active')
  const calls = await depositCalls(toSignedQuote(offer), terms)
  for (const call of calls.slice(0, -1)) await sendCall(call)
  report('approve', 'done', calls.length === 1 ? 'the allowance sufficed' : undefined)
  report('deposit', 'active')
  const hash = await sendCall(calls.at(-1) as Call)
  report('deposit', 'done', hash)
}

/** Checks an offer, and sends its input to the deposit address. @throws as its steps do */
export async function payDepositAddress(
  offer: Offer,
  wish: Wish,
  chain: Chain,
  report: ReportStep,
): Promise<void> {
  report('check', 'active')
  await verifyOffer(offer, wish, chain)
  report('check', 'done', 'signature, terms and deposit address are right')
  report('deposit', 'active')
  report('deposit', 'done', await sendCall(depositTransfer(toSignedQuote(offer))))
}
