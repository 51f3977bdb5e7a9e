import {
  type DepositProgress,
  limitsOf,
  type SettlementTerms,
  sendDeposit,
  verifyQuote,
} from '@quote-aggregator/client'
import type { Address } from 'viem'
import type { Chain } from '../../../../gen/aggregator/v1/chain_pb.js'
import type { Offer } from '../data/auction/auction.js'
import { isDead } from '../data/auction/offer-check.js'
import { isDepositBegun } from '../data/orders/own-swaps.js'
import { shorten } from '../format/shorten.js'
import { wallet } from './connected-wallet.js'
import { DeadOfferError } from './describe-error.js'
import { readBalance, readTerms, switchChain, walletClient } from './provider.js'
import { toSignedQuote } from './signed-quote.js'

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

/** What the check of an offer says when it has passed. */
export const CHECKED: Readonly<Record<WantedSwap['mode'], string>> = {
  CONTRACT: 'signature, terms and bond are right',
  ADDRESS: 'signature, terms and deposit address are right',
}

/** How long an instance that does not answer may keep a swap waiting. */
const INSTANCE_MS = 3000

/**
 * Checks an offer against the request, the contract and its state, read through the user's wallet, and asks the instance too.
 * @throws QuoteVerificationError with all problems; DeadOfferError; what the wallet throws
 */
export async function verifyOffer(offer: Offer, wanted: WantedSwap, chain: Chain): Promise<SettlementTerms> {
  const terms = await readTermsOn(chain)
  const signedQuote = toSignedQuote(offer)
  const asked = isDead(chain.chainId, offer, AbortSignal.timeout(INSTANCE_MS)).catch(() => false)
  await verifyQuote(signedQuote, {
    ...terms,
    // The page showed this offer when it was clicked.
    limits: limitsOf(signedQuote.quote),
    params: {
      chainId: terms.chainId,
      inputToken: wanted.inputToken as Address,
      outputToken: wanted.outputToken as Address,
      orderType: wanted.isExactInput ? 'EXACT_INPUT' : 'EXACT_OUTPUT',
      amount: wanted.amount,
      user: wanted.user as Address,
      depositMode: wanted.mode,
    },
  })
  if (await asked) throw new DeadOfferError()
  return terms
}

/** A swap whose deposit the wallet is asked for. */
interface DepositTask {
  readonly offer: Offer
  readonly wanted: WantedSwap
  readonly chain: Chain
  /** What the wallet was asked for last. */
  readonly earlier: DepositProgress | undefined
  readonly report: ReportStep
  /** Called with what the wallet is asked for, which is the next `earlier`. */
  readonly keep: (progress: DepositProgress) => void
}

/**
 * Checks an offer, approves its input where that is needed, and has the wallet deposit it. A deposit that the wallet was asked for
 * before is followed only: by then its own nonce may be used, and its time be over.
 * @throws QuoteVerificationError and DepositError; what the wallet throws
 */
export async function deposit({ offer, wanted, chain, earlier, report, keep }: DepositTask): Promise<void> {
  const isFollowed = isDepositBegun({ progress: earlier })
  const terms = await (isFollowed ? readTermsOn(chain) : checkOffer({ offer, wanted, chain, report }))
  if (isFollowed && earlier !== undefined) reportProgress(earlier, report)
  else report('approve', 'active')
  let hash = earlier?.hash
  const leaving = new AbortController()
  const signedQuote = toSignedQuote(offer)
  await sendDeposit(walletClient(), signedQuote, terms, {
    depositMode: wanted.mode,
    limits: limitsOf(signedQuote.quote),
    earlier,
    signal: leaving.signal,
    onProgress(progress) {
      keep(progress)
      if (progress.step === 'deposit') hash = progress.hash
      try {
        if (progress.state === 'asked') requireAccount(wanted)
        reportProgress(progress, report)
      } catch (error) {
        // The user has gone on, or has changed the account. What the wallet has sent is followed all the same.
        if (progress.state === 'asked') leaving.abort(error)
      }
    },
  })
  report('approve', 'done', 'by an earlier approval')
  report('deposit', 'done', hash)
}

async function readTermsOn(chain: Chain): Promise<SettlementTerms> {
  await switchChain(chain)
  return readTerms(chain)
}

async function checkOffer({
  offer,
  wanted,
  chain,
  report,
}: Pick<DepositTask, 'offer' | 'wanted' | 'chain' | 'report'>): Promise<SettlementTerms> {
  report('check', 'active')
  const terms = await verifyOffer(offer, wanted, chain)
  report('check', 'done', CHECKED[wanted.mode])
  await requireBalance(offer, Number(chain.chainId))
  return terms
}

/** The user may have changed the account of the wallet. Any account may pay a deposit address. */
function requireAccount({ user, mode }: WantedSwap): void {
  const current = wallet.peek()?.address
  if (mode === 'ADDRESS' || current === undefined || current.toLowerCase() === user.toLowerCase()) return
  throw new Error(
    `The wallet has changed to the account ${shorten(current)}. This offer is for ${shorten(user)}.`,
  )
}

/** A batch is the approval and the deposit in one. */
function reportProgress({ step, state, hash, batchId }: DepositProgress, report: ReportStep): void {
  if (state === 'asked') report(step, 'active')
  if (state === 'sent') report(step, 'sent', hash)
  if (state === 'sent' && batchId !== undefined) report('approve', 'sent')
  if (state === 'mined' && batchId !== undefined) report('approve', 'done', 'in one with the deposit')
  if (state === 'mined' && step === 'approve') report(step, 'done')
}

/** What must fail costs the user a fee for nothing. */
async function requireBalance({ quote }: Offer, chainId: number): Promise<void> {
  if (quote === undefined || (await readBalance(chainId, quote.inputToken)) >= BigInt(quote.inputAmount))
    return
  throw new Error('The account of the wallet has not enough of the token to sell. Nothing was sent.')
}
