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
import { readBalance, switchChain, walletClient } from './provider.js'
import { sendCall } from './send.js'
import { toSignedQuote } from './signed-quote.js'

/** Blocks and clocks may be late by this much. */
const GRACE_MS = 60_000

/** A step of a swap that has begun, whose transaction is sent, or that has ended. */
export type ReportStep = (
  step: 'check' | 'approve' | 'deposit',
  state: 'active' | 'sent' | 'done',
  detail?: string,
) => void

/** What the user asked for: the offer must match it. */
export interface WantedSwap {
  readonly inputToken: string
  readonly outputToken: string
  readonly isExactInput: boolean
  /** The fixed amount, in its token's smallest unit. */
  readonly amount: bigint
  readonly user: string
  readonly mode: 'CONTRACT' | 'ADDRESS'
}

/**
 * Checks an offer against the request, the contract and its state, read through the user's wallet.
 * @throws QuoteVerificationError with all problems; what the wallet throws
 */
export async function verifyOffer(offer: Offer, wanted: WantedSwap, chain: Chain): Promise<SettlementTerms> {
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
      inputToken: wanted.inputToken as Address,
      outputToken: wanted.outputToken as Address,
      orderType: wanted.isExactInput ? 'EXACT_INPUT' : 'EXACT_OUTPUT',
      amount: wanted.amount,
      user: wanted.user as Address,
      depositMode: wanted.mode,
    },
  })
  return terms
}

/** Checks an offer, approves its input where that is needed, and deposits it with the contract. @throws as its steps do */
export async function swapByContract(
  offer: Offer,
  wanted: WantedSwap,
  chain: Chain,
  report: ReportStep,
): Promise<void> {
  report('check', 'active')
  const terms = await verifyOffer(offer, wanted, chain)
  await requireBalance(offer)
  report('check', 'done', 'signature, terms and bond are right')
  report('approve', 'active')
  const calls = await depositCalls(toSignedQuote(offer), terms)
  const send = (call: Call, step: 'approve' | 'deposit') => {
    requireTime(offer)
    return sendCall(call, {
      chainId: Number(chain.chainId),
      account: wanted.user,
      waitUntil: lastMoment(offer),
      onSent: (hash) => report(step, 'sent', hash),
    })
  }
  for (const call of calls.slice(0, -1)) await send(call, 'approve')
  report('approve', 'done', calls.length === 1 ? 'the allowance sufficed' : undefined)
  report('deposit', 'active')
  report('deposit', 'done', await send(calls.at(-1) as Call, 'deposit'))
}

/** Checks an offer, and sends its input to the deposit address. @throws as its steps do */
export async function payDepositAddress(
  offer: Offer,
  wanted: WantedSwap,
  chain: Chain,
  report: ReportStep,
): Promise<void> {
  report('check', 'active')
  await verifyOffer(offer, wanted, chain)
  await requireBalance(offer)
  report('check', 'done', 'signature, terms and deposit address are right')
  report('deposit', 'active')
  requireTime(offer)
  const onSent = (hash: string) => report('deposit', 'sent', hash)
  const options = { chainId: Number(chain.chainId), waitUntil: lastMoment(offer), onSent }
  report('deposit', 'done', await sendCall(depositTransfer(toSignedQuote(offer)), options))
}

/** What must fail costs the user a fee for nothing. */
async function requireBalance({ quote }: Offer): Promise<void> {
  if (quote === undefined || (await readBalance(quote.inputToken)) >= BigInt(quote.inputAmount)) return
  throw new Error('The account of the wallet has not enough of the token to sell. Nothing was sent.')
}

/** Until the deadline of a deposit has certainly passed on the chain, Unix time in milliseconds. */
const lastMoment = ({ quote }: Offer) => (quote?.depositDeadline ?? 0) * 1000 + GRACE_MS

/** The user may have left a request of the wallet open for long. */
function requireTime({ quote }: Offer): void {
  if ((quote?.depositDeadline ?? 0) * 1000 > Date.now()) return
  throw new Error('The offer has expired, so nothing was deposited. Take a new offer.')
}
