import type { DropReason } from '../../../packages/protocol/src/quotes/offer.js'
import type { Quote, QuoteRequest } from '../../../packages/protocol/src/quotes/quote.js'
import { violationOf } from '../../../packages/protocol/src/settlement/contract-violation.js'
import {
  type Reply,
  type ValidatedReply,
  validateReplies,
} from '../../../packages/protocol/src/signing/validate-replies.js'
import type { SolverKey } from '../../../packages/protocol/src/solvers/solver.js'
import type { Chain } from '../../chain/chain.js'
import type { FreeBonds } from '../../solvers/bonds/free-bonds.js'
import type { UsedNonces } from '../../solvers/conduct/used-nonces.js'
import type { Metrics } from '../../telemetry/metrics.js'

/** Validates a reply, as `validateReplies`. */
export type OfferValidator = (reply: Reply) => Promise<ValidatedReply>

interface WaitingReply {
  readonly reply: Reply
  readonly resolve: (result: ValidatedReply) => void
}

/**
 * Builds the validator. Replies that come in one turn of the event loop are validated together at its end.
 * @param rules of the settlement contract
 * @param metrics get the duration of each group of replies
 */
export function createOfferValidator(
  rules: Pick<ContractRules, 'violationOf'>,
  metrics?: Pick<Metrics, 'stageSeconds'>,
): OfferValidator {
  let waiting: WaitingReply[] = []

  function validateAll(): void {
    const batch = waiting
    waiting = []
    const start = performance.now()
    const replies = batch.map(({ reply }) => reply)
    const results = validateReplies(replies, rules.violationOf)
    metrics?.stageSeconds.observe({ stage: 'verify' }, (performance.now() - start) / 1000)
    results.forEach((result, index) => {
      batch[index]?.resolve(result)
    })
  }

  return (reply) =>
    new Promise((resolve) => {
      if (waiting.push({ reply, resolve }) === 1) setImmediate(validateAll)
    })
}

/** The settlement contract's reasons to reject a signed offer, from state in memory (docs/decisions.md, D13). */
export interface ContractRules {
  /** Whether the offers of a solver can be checked. */
  canCheck(solver: SolverKey): boolean
  /** The first reason for which the contract would refuse a quote. */
  violationOf(request: Pick<QuoteRequest, 'chainId' | 'kind'>, quote: Quote): DropReason | undefined
}

interface ContractRulesOptions {
  readonly chains: ReadonlyMap<number, Pick<Chain, 'terms'>>
  readonly freeBonds: Pick<FreeBonds, 'of'>
  readonly usedNonces: Pick<UsedNonces, 'isUsed'>
}

/** Builds the rules of all chains. The check of an offer reads nothing from the chain. */
export function createContractRules(options: ContractRulesOptions): ContractRules {
  const { chains, freeBonds, usedNonces } = options
  return {
    canCheck: (solver) =>
      chains.get(solver.chainId)?.terms().bondReservationBps === undefined ||
      freeBonds.of(solver) !== undefined,

    violationOf({ chainId }, quote) {
      const key = { chainId, address: quote.solver }
      return violationOf(quote, {
        terms: chains.get(chainId)?.terms() ?? {},
        freeBond: freeBonds.of(key),
        isNonceUsed: (nonce) => usedNonces.isUsed(key, nonce),
      })
    },
  }
}
