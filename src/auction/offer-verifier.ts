import type { DropReason } from '../../packages/protocol/src/quotes/offer.js'
import {
  isTooShort,
  type Quote,
  type QuoteRequest,
  type SignedQuote,
} from '../../packages/protocol/src/quotes/quote.js'
import type {
  ContractRefusal,
  DepositVerdict,
  UnknownReason,
  VerifyMode,
} from '../../packages/protocol/src/quotes/verification.js'
import type { SolverResult } from '../../packages/protocol/src/solvers/solver-result.js'
import type { Hex } from '../../packages/protocol/src/values/hex.js'
import type { CallPriority } from '../chain/verification/deposit-verifier.js'
import { limitTime } from '../concurrency/time-limits.js'
import type { SolverAttempt } from './attempt.js'
import type { AuctionContext } from './context.js'
import type { OnBest } from './round.js'

/** The results of a round. */
export interface RankedRound {
  /** The valid offers, best first. */
  readonly ranked: readonly SignedQuote[]
  readonly attempts: readonly SolverAttempt[]
}

interface VerifyRoundOptions extends Pick<VerifyOptions, 'timeoutMs' | 'signal'> {
  readonly request: QuoteRequest
  readonly mode: VerifyMode
  /** Called with each change of the best offer: when another one is the best, and when the contract has accepted it. */
  readonly onBest?: OnBest | undefined
}

/**
 * Checks the offers of a round at its answer. What solvers did is counted before.
 * @returns the round without the offers that the settlement contract refuses, with a mark on those that it accepts (docs/decisions.md,
 * D13), and without those that are earlier than asked and have too little time left (docs/decisions.md, D32)
 */
export async function verifyRound(
  round: RankedRound,
  verifier: OfferVerifier,
  { request, mode, ...options }: VerifyRoundOptions,
): Promise<RankedRound> {
  const { chainId } = request
  const verified = mode === 'off' ? round : await verifyOffers(round, verifier, { ...options, chainId, mode })
  const isShort = ({ quote }: SignedQuote) => verifier.isTooShort(request, quote)
  const ranked = verified.ranked.filter((offer) => !isShort(offer))
  if (ranked.length === verified.ranked.length) return verified
  const attempts = verified.attempts.map((attempt) => {
    const { result } = attempt
    if (result.kind !== 'quoted' || ranked.includes(result.offer)) return attempt
    return { ...attempt, result: droppedResult(result.offer, 'deposit_deadline_mismatch') }
  })
  const [best] = ranked
  if (best !== undefined && best !== verified.ranked[0]) options.onBest?.(best, attempts)
  return { ranked, attempts }
}

async function verifyOffers(
  { ranked, attempts }: RankedRound,
  verifier: OfferVerifier,
  { onBest, ...options }: Omit<VerifyOptions, 'onResult'> & Pick<VerifyRoundOptions, 'onBest'>,
): Promise<RankedRound> {
  const results = new Map<Hex, SolverResult>()
  let best = ranked[0]
  const standing = () =>
    ranked.flatMap((offer) => {
      const result = results.get(offer.orderId)
      if (result === undefined) return [offer]
      return result.kind === 'quoted' ? [result.offer] : []
    })
  const checked = () =>
    attempts.map((attempt) => {
      const { result } = attempt
      const verified = result.kind === 'quoted' ? results.get(result.offer.orderId) : undefined
      return verified === undefined ? attempt : { ...attempt, result: verified }
    })
  await verifier.verify(ranked, {
    ...options,
    onResult(verified) {
      results.set(verified.offer.orderId, toResult(verified))
      const [first] = standing()
      if (first === best || first === undefined) return
      best = first
      onBest?.(best, checked())
    },
  })
  return { ranked: standing(), attempts: checked() }
}

function toResult({ offer, ...verification }: VerifiedOffer): SolverResult {
  switch (verification.kind) {
    case 'verified':
      return { kind: 'quoted', offer: { ...offer, verified: true } }
    case 'dropped':
      return droppedResult(offer, verification.error)
    case 'unmarked':
      return { kind: 'quoted', offer }
  }
}

/** The result of a solver whose valid offer is dropped. */
function droppedResult({ quote }: SignedQuote, reason: DropReason | ContractRefusal): SolverResult {
  const inputAmount = quote.inputAmount.toString()
  const outputAmount = quote.outputAmount.toString()
  return { kind: 'invalid', reason, amounts: { inputAmount, outputAmount } }
}

/** Has the settlement contract check the offers of a quote (docs/decisions.md, D13). */
export type OfferVerifier = ReturnType<typeof createOfferVerifier>

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

type Verification =
  /** The contract accepts it. */
  | { readonly kind: 'verified' }
  /** The contract refuses it, so that it is dropped. Says nothing about the solver: the caller's token can cause it. */
  | { readonly kind: 'dropped'; readonly error: ContractRefusal }
  | { readonly kind: 'unmarked'; readonly reason: UnknownReason | 'not_checked' }

/** Equal for offers that are equal for the contract: the order id is a hash of quote and signature. */
type Key = SignedQuote['orderId']

const NOT_CHECKED: Verification = { kind: 'unmarked', reason: 'not_checked' }

/** Builds the verifier of all chains. */
export function createOfferVerifier(context: AuctionContext) {
  const { chains, config, deadlineTime, clock } = context
  const onNonceRefused = createOnNonceRefused(context)

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
    /** Whether an offer is earlier than asked, and leaves its caller too little time from now on. */
    isTooShort: (request: QuoteRequest, quote: Quote): boolean =>
      isTooShort(request, quote, deadlineTime(request.chainId)),
    /**
     * Checks offers within VERIFY_TIMEOUT_MS and the caller's own time. `best` checks the best offer, and after each rejection the
     * next one. `all` checks all at the same time. Equal offers are checked once. The best offer has precedence in the chain's budget.
     * @param offers offers of one request, best first
     * @returns the offers with their results, in the same order. The promise is never rejected
     */
    async verify(
      offers: readonly SignedQuote[],
      { chainId, mode, timeoutMs, signal, onResult = () => {} }: VerifyOptions,
    ): Promise<VerifiedOffer[]> {
      const time = limitTime(Math.min(config.verifyTimeoutMs, timeoutMs), signal, clock)
      const results = new Map<Key, Verification>()
      const distinct = [...new Map(offers.map((offer) => [offer.orderId, offer])).values()]
      const check = async (offer: SignedQuote) => {
        // The other offers of some quotes must not come before the best offers of all others.
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

/** Learns that the contract refused an offer with the error NonceAlreadyUsed. */
type OnNonceRefused = (chainId: number, quote: Pick<Quote, 'solver' | 'nonce'>) => void

/** Reads under way. A nonce that is not read now is refused again. */
const MAX_READS = 20

/**
 * Builds the function. A caller's token can return any error, so that only the contract's own view makes the nonce used
 * (docs/decisions.md, D25).
 */
export function createOnNonceRefused({ chains, usedNonces }: AuctionContext): OnNonceRefused {
  const reads = new Set<string>()
  return (chainId, { solver, nonce }) => {
    const key = { chainId, address: solver }
    const id = `${chainId} ${solver} ${nonce}`
    const chain = chains.get(chainId)
    if (chain === undefined || reads.size >= MAX_READS || reads.has(id) || usedNonces.isUsed(key, nonce))
      return
    reads.add(id)
    void chain
      .isNonceUsed(solver, nonce)
      .then(
        (isUsed) => isUsed && usedNonces.setUsed(key, [nonce]),
        () => {},
      )
      .finally(() => reads.delete(id))
  }
}
