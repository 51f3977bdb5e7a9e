import { amountsOf, checkOffer, type DropReason } from '../quotes/offer.js'
import type { Quote, QuoteRequest } from '../quotes/quote.js'
import type { SettlementTerms } from '../settlement/settlement.js'
import { bondFor, type SolverKey } from '../solvers/solver.js'
import type { SolverResult } from '../solvers/solver-result.js'
import type { Address } from '../values/hex.js'
import { isTooShort } from './quote-request.js'
import { checkSignature } from './signatures.js'
import type { QuoteHasher } from './typed-data.js'

/** One solver's reply to one request. */
interface Reply {
  readonly request: QuoteRequest
  readonly hasher: QuoteHasher
  /** The registered solver that was asked. */
  readonly solver: Address
  /** The parsed JSON of its reply. */
  readonly body: unknown
}

type ValidatedReply = Extract<SolverResult, { kind: 'quoted' | 'invalid' }>

/** Counts the seconds of a stage, as a histogram of prom-client does. */
interface ValidationMetrics {
  readonly stageSeconds: { observe(labels: { readonly stage: 'verify' }, seconds: number): void }
}

/**
 * Builds the validator: it checks that a reply matches its request, that its signature is valid, and that the contract would accept the
 * offer (docs/decisions.md, D4, D13). Replies that come in one turn of the event loop are validated together at its end. The tables for the recovery
 * of signatures take a megabyte. If other work ran between two recoveries, each would evict the other from the processor's caches.
 * @param violationOf the rules of the settlement contract
 * @param metrics get the duration of each group of replies
 */
export function createOfferValidator(violationOf: ViolationOf, metrics?: ValidationMetrics) {
  let waiting: (() => void)[] = []

  function validateAll(): void {
    const batch = waiting
    waiting = []
    const start = performance.now()
    for (const validateOne of batch) validateOne()
    metrics?.stageSeconds.observe({ stage: 'verify' }, (performance.now() - start) / 1000)
  }

  return (reply: Reply): Promise<ValidatedReply> =>
    new Promise((resolve, reject) => {
      const validateOne = () => {
        try {
          resolve(validate(reply, violationOf))
        } catch (error) {
          reject(error)
        }
      }
      if (waiting.push(validateOne) === 1) setImmediate(validateAll)
    })
}

function validate({ request, hasher, solver, body }: Reply, violationOf: ViolationOf): ValidatedReply {
  const invalid = (reason: DropReason) => ({ kind: 'invalid', reason, amounts: amountsOf(body) }) as const
  const offer = checkOffer(request, solver, body)
  if (typeof offer === 'string') return invalid(offer)
  const signature = Buffer.from(offer.signature.slice(2), 'hex')
  const { structHash, digest } = hasher.hash(offer.quote)
  const reason = checkSignature(digest, signature, solver) ?? violationOf(request, offer.quote)
  if (reason !== undefined) return invalid(reason)
  return { kind: 'quoted', offer: { ...offer, ...hasher.identify(structHash, signature) } }
}

/** The settlement contract's reasons to reject a signed offer, from state in memory (docs/decisions.md, D13). */
export type ContractRules = ReturnType<typeof createContractRules>

/** The first reason for which `deposit` and `settle` would revert. */
export type ViolationOf = (request: QuoteRequest, quote: Quote) => DropReason | undefined

/** What is known of contracts and solvers, in memory. */
interface ContractRulesOptions {
  readonly chains: ReadonlyMap<number, { terms(): SettlementTerms }>
  /** In the bond token's smallest unit; undefined while it is not known. */
  readonly freeBonds: { of(solver: SolverKey): bigint | undefined }
  readonly usedNonces: { isUsed(solver: SolverKey, nonce: bigint): boolean }
  /** The time from which the deadlines of a chain's quotes are counted, Unix time in milliseconds. */
  readonly deadlineTime: (chainId: number) => number
}

/** Builds the rules of all chains. The check of an offer reads nothing from the chain. */
export function createContractRules(options: ContractRulesOptions) {
  const { chains, freeBonds, usedNonces, deadlineTime } = options
  return {
    /** Whether the offers of a solver can be checked. */
    canCheck: (solver: SolverKey): boolean =>
      chains.get(solver.chainId)?.terms().bondReservationBps === undefined ||
      freeBonds.of(solver) !== undefined,

    /**
     * The first reason for which `deposit` and `settle` would revert. A solver may repeat a nonce until an order or a
     * cancellation has used it.
     */
    violationOf(request: QuoteRequest, quote: Quote): DropReason | undefined {
      const { chainId } = request
      const { solver: address, outputAmount, nonce } = quote
      if (isTooShort(request, quote, deadlineTime(chainId))) return 'deposit_deadline_mismatch'
      const { bondReservationBps, minOrder } = chains.get(chainId)?.terms() ?? {}
      const key = { chainId, address }
      if (minOrder !== undefined && outputAmount < minOrder) return 'below_minimum_order'
      if (bondReservationBps !== undefined) {
        const isCovered = bondFor(outputAmount, bondReservationBps) <= (freeBonds.of(key) ?? 0n)
        if (!isCovered) return 'bond_too_small'
      }
      return usedNonces.isUsed(key, nonce) ? 'nonce_used' : undefined
    },
  }
}
