import { amountsOf, checkOffer, type DropReason, type Offer } from '../quotes/offer.js'
import type { Quote, QuoteRequest } from '../quotes/quote.js'
import type { SolverResult } from '../solvers/solver-result.js'
import type { Address } from '../values/hex.js'
import { checkSignature } from './signatures.js'
import type { QuoteHasher } from './typed-data.js'

/** One solver's reply to one request. */
export interface Reply {
  readonly request: QuoteRequest
  readonly hasher: QuoteHasher
  /** The registered solver that was asked. */
  readonly solver: Address
  /** The parsed JSON of its reply. */
  readonly body: unknown
}

/** An offer, or why the reply is none. */
export type ValidatedReply = Extract<SolverResult, { kind: 'quoted' | 'invalid' }>

/** The first reason for which the settlement contract would refuse a signed offer; undefined without one. */
export type ContractCheck = (request: QuoteRequest, quote: Quote) => DropReason | undefined

/**
 * Checks that a reply matches its request, that its signature is valid, and that the contract would accept the offer
 * (docs/decisions.md, D4, D13).
 */
export function validateReply(reply: Reply, violationOf: ContractCheck): ValidatedReply {
  return conclude(checkSigner(hash(reply)), violationOf)
}

/**
 * Validates several replies together, step by step. The tables for the recovery of signatures take a megabyte. If other work ran
 * between two recoveries, each would evict the other from the processor's caches.
 * @returns the results in the order of the replies
 */
export function validateReplies(
  replies: readonly Reply[],
  violationOf: ContractCheck,
): readonly ValidatedReply[] {
  const checked = replies.map(hash).map(checkSigner)
  return checked.map((one) => conclude(one, violationOf))
}

/** A reply, and its offer or the reason to drop it. */
interface CheckedReply {
  readonly reply: Reply
  readonly offer: HashedOffer | DropReason
}

interface HashedOffer extends Offer {
  readonly structHash: Uint8Array
  readonly digest: Uint8Array
  readonly signatureBytes: Uint8Array
}

function hash(reply: Reply): CheckedReply {
  const { request, hasher, solver, body } = reply
  const offer = checkOffer(request, solver, body)
  if (typeof offer === 'string') return { reply, offer }
  const { quote, signature } = offer
  const signatureBytes = Buffer.from(signature.slice(2), 'hex')
  return { reply, offer: { quote, signature, signatureBytes, ...hasher.hash(quote) } }
}

function checkSigner({ reply, offer }: CheckedReply): CheckedReply {
  if (typeof offer === 'string') return { reply, offer }
  return { reply, offer: checkSignature(offer.digest, offer.signatureBytes, offer.quote.solver) ?? offer }
}

function conclude({ reply, offer }: CheckedReply, violationOf: ContractCheck): ValidatedReply {
  const { request, hasher, body } = reply
  const accepted = typeof offer === 'string' ? offer : (violationOf(request, offer.quote) ?? offer)
  if (typeof accepted === 'string') return { kind: 'invalid', reason: accepted, amounts: amountsOf(body) }
  const { quote, signature, structHash, signatureBytes } = accepted
  return { kind: 'quoted', offer: { quote, signature, ...hasher.identify(structHash, signatureBytes) } }
}
