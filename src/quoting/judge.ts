import type { Address } from '../domain/hex.js'
import { checkOffer, type DropReason, type Offer } from '../domain/offer.js'
import type { QuoteRequest } from '../domain/quote.js'
import { checkSignature } from '../signing/recover.js'
import type { QuoteHasher } from '../signing/typed-data.js'
import type { SolverOutcome } from './outcome.js'

/** One solver's reply to one request. */
export interface Reply {
  readonly request: QuoteRequest
  readonly hasher: QuoteHasher
  /** The registered solver that was asked. */
  readonly solver: Address
  /** The parsed JSON of its answer. */
  readonly body: unknown
  /** Called once, soon, with what it is worth. */
  readonly onJudged: (outcome: SolverOutcome) => void
}

/** Judges a reply: holds it against what was asked and checks its signature (decisions.md D4). */
export type Judge = (reply: Reply) => void

/**
 * Builds the judge. Replies that come in one turn of the event loop are judged together at its end, step by step: the
 * tables that recovering works with take a megabyte, and all else is slow when it must find its way back into the
 * processor's caches between any two of them.
 */
export function createJudge(): Judge {
  let waiting: Reply[] = []

  function judgeAll(): void {
    const replies = waiting
    waiting = []
    const hashed = replies.map(hash)
    const problems = hashed.map((offer) => (typeof offer === 'string' ? offer : findProblem(offer)))
    replies.forEach(({ onJudged }, index) => {
      const offer = hashed[index]
      const reason = problems[index]
      onJudged(toOutcome(offer, reason))
    })
  }

  return (reply) => {
    if (waiting.push(reply) === 1) setImmediate(judgeAll)
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
  const { structHash, digest } = hasher.hash(quote)
  return {
    quote,
    signature,
    hasher,
    structHash,
    digest,
    signatureBytes: Buffer.from(signature.slice(2), 'hex'),
  }
}

function findProblem({ digest, signatureBytes, quote }: HashedOffer): DropReason | undefined {
  return checkSignature(digest, signatureBytes, quote.solver)
}

function toOutcome(
  offer: HashedOffer | DropReason | undefined,
  reason: DropReason | undefined,
): SolverOutcome {
  if (reason !== undefined || typeof offer !== 'object')
    return { kind: 'invalid', reason: reason ?? 'malformed' }
  const { quote, signature, hasher, structHash, signatureBytes } = offer
  return { kind: 'quoted', offer: { quote, signature, ...hasher.identify(structHash, signatureBytes) } }
}
