import type { Chain } from '../../chain/chain.js'
import type { CallPriority } from '../../chain/verification/call-budget.js'
import type { Clock } from '../../clock.js'
import { limitTime } from '../../concurrency/time-limits.js'
import type { SignedQuote } from '../../domain/quotes/quote.js'
import type {
  ContractRefusal,
  DepositVerdict,
  UnknownReason,
  VerifyMode,
} from '../../domain/quotes/verification.js'
import type { OnNonceRefused } from './refused-nonces.js'

/** Has the settlement contract check the offers of a quote (docs/decisions.md, D13). */
export interface OfferVerifier {
  /**
   * Checks offers within VERIFY_TIMEOUT_MS and the caller's own time. `best` checks the best offer, and after each rejection the
   * next one. `all` checks all at the same time. Equal offers are checked once. The best offer has precedence in the chain's budget.
   * @param offers offers of one request, best first
   * @returns the offers with their results, in the same order. The promise is never rejected
   */
  verify(offers: readonly SignedQuote[], options: VerifyOptions): Promise<VerifiedOffer[]>
}

export interface VerifyOptions {
  readonly chainId: number
  readonly mode: Exclude<VerifyMode, 'off'>
  /** The time that the caller still has, in milliseconds; infinite without a deadline. */
  readonly timeoutMs: number
  /** Aborted when the caller leaves. */
  readonly signal: AbortSignal
  /** Called with the result of each offer as soon as it is known; for `best`, only with the offers that were checked. */
  readonly onResult?: (verified: VerifiedOffer) => void
}

/** An offer with what the settlement contract says of it. */
export type VerifiedOffer = { readonly offer: SignedQuote } & Verification

export type Verification =
  /** The contract accepts it. */
  | { readonly kind: 'verified' }
  /** The contract refuses it, so that it is dropped. Says nothing about the solver: the caller's token can cause it. */
  | { readonly kind: 'dropped'; readonly error: ContractRefusal }
  | { readonly kind: 'unmarked'; readonly reason: UnknownReason | 'not_checked' }

interface OfferVerifierOptions {
  readonly chains: ReadonlyMap<number, Pick<Chain, 'verifyDeposit'>>
  readonly onNonceRefused: OnNonceRefused
  /** VERIFY_TIMEOUT_MS. */
  readonly verifyTimeoutMs: number
  readonly clock: Pick<Clock, 'setTimeout'>
}

/** Equal for offers that are equal for the contract: the order id is a hash of quote and signature. */
type Key = SignedQuote['orderId']

const NOT_CHECKED: Verification = { kind: 'unmarked', reason: 'not_checked' }

/** Builds the verifier of all chains. */
export function createOfferVerifier(options: OfferVerifierOptions): OfferVerifier {
  const { chains, onNonceRefused, verifyTimeoutMs, clock } = options

  async function checkWithin(
    offer: SignedQuote,
    chainId: number,
    signal: AbortSignal,
    priority: CallPriority,
  ): Promise<Verification> {
    const verdict = await chains.get(chainId)?.verifyDeposit(offer, signal, priority)
    if (verdict?.kind === 'rejected' && verdict.error === 'NonceAlreadyUsed')
      onNonceRefused(chainId, offer.quote)
    return verdict === undefined ? NOT_CHECKED : toVerification(verdict)
  }

  return {
    async verify(offers, { chainId, mode, timeoutMs, signal, onResult = () => {} }) {
      const time = limitTime(Math.min(verifyTimeoutMs, timeoutMs), signal, clock)
      const results = new Map<Key, Verification>()
      const distinct = [...new Map(offers.map((offer) => [offer.orderId, offer])).values()]
      const check = async (offer: SignedQuote) => {
        // The other offers of some quotes must not take the place of the best offers of all others.
        const priority = offer === distinct[0] ? 'high' : 'low'
        const result = await checkWithin(offer, chainId, time.signal, priority)
        results.set(offer.orderId, result)
        onResult({ offer, ...result })
        return result
      }
      if (mode === 'all') await Promise.all(distinct.map(check))
      else for (const offer of distinct) if ((await check(offer)).kind !== 'dropped') break
      time.end()
      return offers.map((offer) => ({ offer, ...(results.get(offer.orderId) ?? NOT_CHECKED) }))
    },
  }
}

function toVerification(verdict: DepositVerdict): Verification {
  switch (verdict.kind) {
    case 'accepted':
      return { kind: 'verified' }
    case 'rejected':
      return { kind: 'dropped', error: verdict.error }
    case 'unknown':
      return { kind: 'unmarked', reason: verdict.reason }
  }
}
