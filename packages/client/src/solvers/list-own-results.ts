import { UINT64 } from '../../../protocol/src/field-rules.js'
import type { QuoteKind } from '../../../protocol/src/quotes/quote.js'
import { ownResultsMessage } from '../../../protocol/src/solvers/registration-messages.js'
import { parseOrigin } from '../../../protocol/src/values/origin.js'
import {
  listOf,
  messageReader,
  optional,
  type ReadBy,
  type Readers,
  readEnum,
  readInteger,
  readNumber,
  readText,
  readUint256,
} from '../calls/answer-fields.js'
import { check, optionProblem } from '../calls/check-arguments.js'
import type { Messages } from '../calls/message-types.js'
import { checkParams, PAGE_PROBLEMS } from '../calls/request-path.js'
import { readParameters, readSolverResult } from '../quotes/get-quote-record.js'
import { SOLVER_STATE } from './list-solver-stats.js'
import type { MessageSigner, RegistrationTerms, SignedUnregistration } from './sign-registration.js'

/** What a solver signs to list its own results. */
export interface OwnResultsTerms extends Pick<RegistrationTerms, 'protocolName' | 'chainId'> {
  /** The URL at which the solver reaches the instance. Its origin is signed. */
  readonly audience: string | URL
  /** Unix time in milliseconds; now when left out. The signature is good for 5 minutes. */
  readonly timestamp?: number
}

/** The first argument of `listOwnResults`. It can be used for every page until it expires. */
export interface SignedOwnResults extends SignedUnregistration {
  readonly audience: string
}

/** Which results a page has. */
export interface OwnResultsParams {
  /** Most results of a page, up to 200; 50 when left out. */
  readonly pageSize?: number | undefined
  /** The `nextPageToken` of a page of the same solver and chain. The first page when left out. */
  readonly pageToken?: string | undefined
}

/** What came of one request, as its solver may see it. */
export interface OwnResult extends ReadBy<typeof RESULT> {}
const RESULT = {
  /** The solver's own id of the quote; undefined at an instance that does not send it. */
  quoteId: optional(readText),
  /** Unix time in milliseconds. */
  requestedAt: readInteger,
  /** FIRM for a quote, INDICATIVE for a price. */
  kind: readEnum<QuoteKind>,
  request: readParameters,
  result: readSolverResult,
  /** The best amount of the side that solvers compete on; undefined without an offer, and until the deposit deadline. */
  bestAmount: optional(readUint256),
  /** How much worse the offer was than the best one, in basis points of that; undefined without both. */
  distanceBps: optional(readNumber),
} satisfies Readers<'OwnResult'>

/** A page of results, newest first, and how the instance treats the solver at this moment. */
export interface OwnResultPage extends ReadBy<typeof PAGE> {}
const PAGE = {
  /** It may be empty although more results follow. */
  results: listOf(messageReader(RESULT)),
  /** Undefined on the last page. */
  nextPageToken: (token) => readText(token) || undefined,
  ...SOLVER_STATE,
} satisfies Readers<'ListOwnResultsResponse'>

/** Reads a page. @throws UnreadableAnswer */
export const readOwnResultPage = messageReader(PAGE)

/** Signs for the lists of a solver's own results (docs/decisions.md, D20). @throws the errors of the signer */
export async function signOwnResults(
  signer: MessageSigner,
  terms: OwnResultsTerms,
): Promise<SignedOwnResults> {
  const { protocolName = 'Service', chainId, timestamp = Date.now() } = terms
  const { origin: audience } = new URL(terms.audience)
  const { address } = signer
  const message = ownResultsMessage(protocolName, { address, audience, timestamp })
  return { chainId, address, audience, timestamp, signature: await signer.signMessage({ message }) }
}

/** Makes the body of a request. @throws AggregatorError INVALID_ARGUMENT */
export function toOwnResultsBody(
  { audience, timestamp, signature }: SignedOwnResults,
  params: OwnResultsParams,
): Omit<Messages['ListOwnResultsRequest'], 'chainId' | 'address'> {
  check({
    audience: parseOrigin(audience) === audience ? undefined : 'must be an origin',
    timestamp: optionProblem(UINT64, timestamp),
  })
  checkParams(params, PAGE_PROBLEMS)
  return { audience, timestamp, signature, ...(params as Required<OwnResultsParams>) }
}
