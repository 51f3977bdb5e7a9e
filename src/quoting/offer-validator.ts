import type { Address } from '../domain/hex.js'
import { amountsOf, checkOffer, type DropReason, type Offer } from '../domain/offer.js'
import type { QuoteRequest } from '../domain/quote.js'
import { checkSignature } from '../signing/recover.js'
import type { QuoteHasher } from '../signing/typed-data.js'
import type { AttemptResult } from './attempt-result.js'
import type { ContractRules } from './contract-rules.js'

/** One solver's reply to one request. */
export interface Reply {
  readonly request: QuoteRequest
  readonly hasher: QuoteHasher
  /** The registered solver that was asked. */
  readonly solver: Address
  /** The parsed JSON of its reply. */
  readonly body: unknown
  /** Called once, soon, with the result. */
  readonly onValidated: (outcome: AttemptResult) => void
}

/** Checks that a reply matches its request, that its signature is valid, and that the contract would accept the offer
 * (docs/decisions.md, D4, D13). */
export type OfferValidator = (reply: Reply) => void

/**
 * Builds the validator. Replies that come in one turn of the event loop are validated together at its end, step by step.
 * The tables for the recovery of signatures take a megabyte. If other work ran between two recoveries, each would evict
 * the other from the processor's caches.
 * @param rules of the settlement contract
 * @param recordSeconds called with the duration of each group of replies
 */
export function createOfferValidator(
  rules: Pick<ContractRules, 'violationOf'>,
  recordSeconds: (seconds: number) => void,
): OfferValidator {
  let waiting: Reply[] = []

  function validateAll(): void {
    const replies = waiting
    waiting = []
    const start = performance.now()
    const verified = replies.map(hash).map(verify)
    const accepted = verified.map((verdict, index) => accept(verdict, replies[index]?.request.chainId ?? 0))
    recordSeconds((performance.now() - start) / 1000)
    accepted.forEach((verdict, index) => {
      const reply = replies[index]
      reply?.onValidated(toOutcome(verdict, reply))
    })
  }

  function accept(offer: HashedOffer | DropReason, chainId: number): HashedOffer | DropReason {
    if (typeof offer === 'string') return offer
    return rules.violationOf(chainId, offer.quote) ?? offer
  }

  return (reply) => {
    if (waiting.push(reply) === 1) setImmediate(validateAll)
  }
}

interface HashedOffer extends Offer {
  readonly hasher: QuoteHasher
  readonly structHash: Uint8Array
  readonly digest: Uint8Array
  readonly signatureBytes: Uint8Array
}

function hash({ request, hasher, solver, body }: Reply): HashedOffer | DropReason {
  const offer = checkOffer(request, solver, body)
  if (typeof offer === 'string') return offer
  const { quote, signature } = offer
  const signatureBytes = Buffer.from(signature.slice(2), 'hex')
  return { quote, signature, signatureBytes, hasher, ...hasher.hash(quote) }
}

function verify(offer: HashedOffer | DropReason): HashedOffer | DropReason {
  if (typeof offer === 'string') return offer
  return checkSignature(offer.digest, offer.signatureBytes, offer.quote.solver) ?? offer
}

function toOutcome(verdict: HashedOffer | DropReason, { body }: Reply): AttemptResult {
  if (typeof verdict === 'string') return { kind: 'invalid', reason: verdict, amounts: amountsOf(body) }
  const { quote, signature, hasher, structHash, signatureBytes } = verdict
  return { kind: 'quoted', offer: { quote, signature, ...hasher.identify(structHash, signatureBytes) } }
}
