import type { SignedQuote } from '../../domain/quotes/quote.js'
import type { SolverResult } from '../../domain/solvers/solver-result.js'
import type { Hex } from '../../domain/values/hex.js'
import type { OfferVerifier, VerifiedOffer, VerifyOptions } from './offer-verifier.js'
import type { RoundProgress } from './round-progress.js'
import type { SolverAttempt } from './solver-attempt.js'

/** The results of a round. */
export interface RankedRound {
  /** The valid offers, best first. */
  readonly ranked: readonly SignedQuote[]
  readonly attempts: readonly SolverAttempt[]
}

interface VerifyRoundOptions extends Omit<VerifyOptions, 'onResult'> {
  /** Learns of each change of the best offer. */
  readonly progress: Pick<RoundProgress, 'drop' | 'replaceBest'>
}

/**
 * Has the settlement contract check the offers of a round (docs/decisions.md, D13). What solvers did is counted before.
 * @returns the round without the offers that the contract refuses, and with a mark on those that it accepts
 */
export async function verifyRound(
  { ranked, attempts }: RankedRound,
  verifier: OfferVerifier,
  { progress, ...options }: VerifyRoundOptions,
): Promise<RankedRound> {
  const results = new Map<Hex, SolverResult>()
  const standing = () =>
    ranked.flatMap((offer) => {
      const result = results.get(offer.orderId)
      if (result === undefined) return [offer]
      return result.kind === 'quoted' ? [result.offer] : []
    })
  await verifier.verify(ranked, {
    ...options,
    onResult(verified) {
      const result = toResult(verified)
      results.set(verified.offer.orderId, result)
      if (result.kind === 'invalid') progress.drop()
      const [best] = standing()
      if (best !== undefined) progress.replaceBest(best)
    },
  })
  return {
    ranked: standing(),
    attempts: attempts.map((attempt) => {
      const { result } = attempt
      const verified = result.kind === 'quoted' ? results.get(result.offer.orderId) : undefined
      return verified === undefined ? attempt : { ...attempt, result: verified }
    }),
  }
}

function toResult({ offer, ...verification }: VerifiedOffer): SolverResult {
  switch (verification.kind) {
    case 'verified':
      return { kind: 'quoted', offer: { ...offer, verified: true } }
    case 'dropped': {
      const { inputAmount, outputAmount } = offer.quote
      const amounts = { inputAmount: inputAmount.toString(), outputAmount: outputAmount.toString() }
      return { kind: 'invalid', reason: verification.error, amounts }
    }
    case 'unmarked':
      return { kind: 'quoted', offer }
  }
}
