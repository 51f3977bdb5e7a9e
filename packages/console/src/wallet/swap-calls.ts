import {
  type Call,
  depositCalls,
  depositTransfer,
  readSettlement,
  type SettlementTerms,
  type SignedQuote,
  verifyQuote,
} from '@quote-aggregator/client'
import { type Address, encodeFunctionData, type Hex, parseAbi } from 'viem'
import type { Chain } from '../../../../gen/aggregator/v1/chain_pb.js'
import { ORDER_TYPES } from '../../../../src/domain/quote.js'
import type { Offer } from '../data/auction.js'
import { switchChain, walletClient } from './provider.js'

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

const refundAbi = parseAbi(['function refund(bytes32 orderId)'])

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
  for (const call of calls.slice(0, -1)) await send(call)
  report('approve', 'done', calls.length === 1 ? 'the allowance sufficed' : undefined)
  report('deposit', 'active')
  const hash = await send(calls.at(-1) as Call)
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
  report('deposit', 'done', await send(depositTransfer(toSignedQuote(offer))))
}

/** Gets the input of an order back that the solver has not filled in time. @throws what the wallet throws */
export async function refundOrder(chain: Chain, orderId: string): Promise<void> {
  await switchChain(Number(chain.chainId))
  const data = encodeFunctionData({ abi: refundAbi, functionName: 'refund', args: [orderId as Hex] })
  await send({ to: chain.settlement as Address, data, value: 0n })
}

/** Sends a transaction, and waits until it is mined. @returns its hash @throws when it reverts */
async function send(call: Call): Promise<Hex> {
  const client = walletClient()
  const hash = await client.sendTransaction({ ...call, chain: null })
  const { status } = await client.waitForTransactionReceipt({ hash })
  if (status !== 'success') throw new Error(`The transaction ${hash} has reverted.`)
  return hash
}

function toSignedQuote({ quote, solverSignature, orderId, depositAddress }: Offer): SignedQuote {
  if (quote === undefined) throw new Error('The offer has no quote.')
  return {
    quote: {
      solver: quote.solver as Address,
      user: quote.user as Address,
      inputToken: quote.inputToken as Address,
      inputAmount: BigInt(quote.inputAmount),
      outputToken: quote.outputToken as Address,
      outputAmount: BigInt(quote.outputAmount),
      orderType: ORDER_TYPES[quote.orderType] ?? 'EXACT_INPUT',
      outputChainId: Number(quote.outputChainId),
      depositDeadline: quote.depositDeadline,
      fillDeadline: quote.fillDeadline,
      nonce: BigInt(quote.nonce),
    },
    signature: solverSignature as Hex,
    orderId: orderId as Hex,
    depositAddress: depositAddress as Address,
  }
}
