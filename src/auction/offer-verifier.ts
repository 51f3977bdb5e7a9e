import type { DropReason } from '../../packages/protocol/src/quotes/offer.js'
import type { Quote, QuoteRequest, SignedQuote } from '../../packages/protocol/src/quotes/quote.js'
import type { ContractRefusal, VerifyMode } from '../../packages/protocol/src/quotes/verification.js'
import { isTooShort } from '../../packages/protocol/src/signing/quote-request.js'
import type { SolverResult } from '../../packages/protocol/src/solvers/solver-result.js'
import type { CallSignal } from '../clients/call.js'
import { limitTime } from '../concurrency/time-limits.js'
import { rankedOffers, type SolverAttempt } from './attempt.js'
import type { AuctionContext } from './context.js'
import type { OnBest } from './round.js'

interface VerifyOptions {
  readonly request: QuoteRequest
  readonly mode: VerifyMode
  /** The time that the caller still has, in milliseconds; infinite without a deadline. */
  readonly timeoutMs: number
  /** Aborted when the caller leaves. */
  readonly signal: CallSignal
  /** Called with each change of the best offer: when another one is the best, and when the contract has accepted it. */
  readonly onBest: OnBest
}

/** Builds what checks the offers of rounds, of all chains. */
export function createOfferVerifier(context: AuctionContext) {
  const { chains, config, deadlineTime, clock } = context
  const onNonceRefused = createOnNonceRefused(context)

  /**
   * Has the settlement contract check the offers, within VERIFY_TIMEOUT_MS and the caller's own time. `best` checks the best
   * offer, and after each refusal the next one. `all` checks all at the same time. What solvers did is counted before: a
   * refusal says nothing about its solver, since the caller's token can cause it.
   * @returns the results, where an offer has a mark when the contract accepts it (docs/decisions.md, D13). Those that it
   * refuses are invalid, and those that are earlier than asked and leave too little time (docs/decisions.md, D32). The
   * promise is never rejected
   */
  return async (
    attempts: readonly SolverAttempt[],
    { request, mode, timeoutMs, signal, onBest }: VerifyOptions,
  ): Promise<readonly SolverAttempt[]> => {
    const { chainId } = request
    const chain = chains.get(chainId)
    const time = limitTime(Math.min(config.verifyTimeoutMs, timeoutMs), signal, clock)
    const ranked = rankedOffers(attempts)
    const results = new Map<SignedQuote, SolverResult>()
    let best = ranked[0]

    const verified = () =>
      attempts.map((attempt): SolverAttempt => {
        const { result } = attempt
        return { ...attempt, result: (result.kind === 'quoted' && results.get(result.offer)) || result }
      })

    function record(offer: SignedQuote, result: SolverResult): void {
      results.set(offer, result)
      const now = verified()
      const [first] = rankedOffers(now)
      if (first === undefined || first === best) return
      best = first
      onBest(first, now)
    }

    /** @returns whether the contract refuses the offer */
    async function check(offer: SignedQuote): Promise<boolean> {
      // The other offers of some quotes must not come before the best offers of all others.
      const priority = offer === ranked[0] ? 'high' : 'low'
      const verdict = await chain?.verifyDeposit(offer, time.signal, priority)
      if (verdict?.kind === 'accepted') record(offer, { kind: 'quoted', offer: { ...offer, verified: true } })
      if (verdict?.kind !== 'rejected') return false
      record(offer, droppedResult(offer, verdict.error))
      if (verdict.error === 'NonceAlreadyUsed') onNonceRefused(chainId, offer.quote)
      return true
    }

    if (mode === 'all') await Promise.all(ranked.map(check))
    else if (mode === 'best') for (const offer of ranked) if (!(await check(offer))) break
    time.end()
    const now = deadlineTime(chainId)
    // The worst first, so that the best one changes once.
    for (const offer of ranked.toReversed())
      if (results.get(offer)?.kind !== 'invalid' && isTooShort(request, offer.quote, now))
        record(offer, droppedResult(offer, 'deposit_deadline_mismatch'))
    return verified()
  }
}

/** The result of a solver whose valid offer is dropped. */
function droppedResult({ quote }: SignedQuote, reason: DropReason | ContractRefusal): SolverResult {
  const inputAmount = quote.inputAmount.toString()
  const outputAmount = quote.outputAmount.toString()
  return { kind: 'invalid', reason, amounts: { inputAmount, outputAmount } }
}

/** Reads under way. A nonce that is not read now is refused again. */
const MAX_READS = 20

/**
 * Builds what is called when the contract has refused an offer with the error NonceAlreadyUsed. A caller's token can return any error.
 * So only the contract's own view makes the nonce used (docs/decisions.md, D25).
 */
export function createOnNonceRefused({ chains, usedNonces }: AuctionContext) {
  const reads = new Set<string>()
  return (chainId: number, { solver, nonce }: Quote): void => {
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
