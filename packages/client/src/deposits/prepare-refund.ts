import { type Abi, type Address, encodeFunctionData } from 'viem'
import { findView, readNewestBlock, readView } from '../../../protocol/src/node/read-view.js'
import { simulate } from '../../../protocol/src/node/simulate.js'
import { type SignedQuote, toContractQuote } from '../../../protocol/src/quotes/quote.js'
import {
  bondReservationBps,
  nonceUse,
  order,
  REFUND_CALLS_ABI,
} from '../../../protocol/src/settlement/settlement-of-chain.js'
import { balanceOf } from '../../../protocol/src/settlement/token-calls.js'
import { bondFor } from '../../../protocol/src/solvers/solver.js'
import { identifyOffer } from '../offers/offer-identity.js'
import type { SettlementTerms } from '../offers/settlement-terms.js'
import type { Call } from './deposit-calls.js'

/** How to take something of a deposit back now. */
export interface PreparedRefund {
  /** Anyone may send it, unless there is a `sender`. What it gives back goes to the user of the offer. */
  readonly call: Call
  /** The most that the contract takes of the solver's bond for the user, in the bond token's smallest unit. */
  readonly compensation: bigint
  /** The only account that may send it. */
  readonly sender?: Address
}

/** That nothing can be taken back now, and why: a sentence for a person. */
export interface NoRefund {
  readonly none: string
  /** Whether neither the order nor its address has anything, as far as the newest block says. */
  readonly isEmpty?: true
}

/** From when on the newest block of a node may be that of one that is stuck. */
const OLD_SECONDS = 120

type Signed = Pick<SignedQuote, 'quote' | 'signature'>
type Name = (typeof REFUND_CALLS_ABI)[number]['name']

/**
 * Finds the call that gives the user of an offer something of the deposit back, in both deposit modes and for both kinds of contract.
 * It is simulated at the user's node. Ask again after it is mined, until there is `none`: too much may have been sent, or another token.
 * The contract has no record of a transfer before an order: keep the offer.
 * @param settlement the result of `readSettlement` for the offer's chain
 * @param token another token that was sent to the deposit address; the offer's own two are looked for always
 * @throws ChainReadError and viem's errors when the node does not answer, or a part of it lacks the newest block
 */
export async function prepareRefund(
  offer: Signed,
  settlement: SettlementTerms,
  token?: Address,
): Promise<PreparedRefund | NoRefund> {
  const find = () => findRefund(offer, settlement, token)
  // Another node behind the same URL may not have the block yet.
  return find().catch(find)
}

/** Reads and simulates all at one block: a node that lags fails, and does not say that there is nothing. */
async function findRefund(
  { quote, signature }: Signed,
  settlement: SettlementTerms,
  token: Address | undefined,
): Promise<PreparedRefund | NoRefund> {
  const { client, chainId, settlement: to } = settlement
  const { request } = client
  const { inputToken, user: from } = quote
  const { orderId, depositAddress } = identifyOffer(quote, signature, settlement)
  const { number, time } = await readNewestBlock(request, chainId)
  /** Undefined for a token that is broken, null for what could not be read: the contract may give back another one all the same. */
  const heldOf = (held: Address) =>
    findView(request, held, balanceOf(depositAddress), number).catch(() => null)
  // The output token of another chain is no contract here.
  const others = [quote.outputChainId === chainId && quote.outputToken, token].filter(Boolean) as Address[]
  const [{ state }, isNonceUsed, reservationBps = 0n, input, ...balances] = await Promise.all([
    readView(request, to, order(chainId, orderId), number),
    readView(request, to, nonceUse(quote.solver, quote.nonce), number),
    findView(request, to, bondReservationBps(), number),
    heldOf(inputToken),
    ...others.map(heldOf),
  ])
  const held = others.filter((_, index) => balances[index])
  const isOver = time > quote.fillDeadline
  const isDue = isOver || Date.now() / 1000 > quote.fillDeadline
  // A quiet chain has no block with the time in which the call would be mined.
  const at = isDue && !isOver ? 'pending' : number
  const isOpen = state === 'DEPOSITED'
  // What the solver can still fill, and what it must pay for.
  const isOrder = isOpen || (!isNonceUsed && (input ?? quote.inputAmount) >= quote.inputAmount)
  const signed = [toContractQuote(quote), signature]
  const there = input === 0n ? held : [inputToken, ...held]
  const ways: readonly (readonly [Name, readonly unknown[]])[] = [
    ...(isOpen ? [['refund', [orderId]] as const] : []),
    ...(input !== 0n ? [['refundAddressDeposit', signed] as const] : []),
    ...(isOpen || state === 'NONE' ? [] : there).map(
      (lost) => ['recoverFromProxy', [...signed, lost]] as const,
    ),
    // It ends the order: before, the input must be back, with the compensation.
    ...(isDue && input === 0n ? held : []).map((lost) => ['deployAndRecover', [...signed, lost]] as const),
    ['withdrawExcess', [inputToken]],
  ]
  for (const [functionName, args] of ways) {
    const data = encodeFunctionData({ abi: REFUND_CALLS_ABI as Abi, functionName, args })
    if ((await simulate(request, { to, data, from }, functionName, at)) === undefined) continue
    const call = { to, data, value: 0n }
    if (functionName === 'withdrawExcess') return { call, compensation: 0n, sender: from }
    return { call, compensation: isOrder ? bondFor(quote.outputAmount, reservationBps) : 0n }
  }
  // A deposit address is settled up to the deposit deadline only.
  if (isOrder && !isDue && (isOpen || time <= quote.depositDeadline))
    return { none: 'The solver still has time.' }
  const isKnown = !balances.includes(null) && Date.now() / 1000 - time < OLD_SECONDS
  if (!isOpen && there.length === 0 && isKnown)
    return { none: 'Nothing can be taken back now.', isEmpty: true }
  if (isOver && there.length > 0 && isNonceUsed && state === 'NONE')
    return {
      none: 'The contract keeps the tokens. If their token refuses transfers just now, ask again later.',
    }
  const when = isOver ? '' : ' once a block is after the fill deadline'
  return { none: `Ask again${when}, and keep the offer.` }
}
