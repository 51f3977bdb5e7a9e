import type { Address } from 'viem'
import { untilReturned } from './calls/abort.js'
import { readAddress, readMessage } from './calls/answer-fields.js'
import { checked, textProblem } from './calls/check-arguments.js'
import type { Messages } from './calls/message-types.js'
import { chainPath, solverPath } from './calls/request-path.js'
import { type CallOptions, createInstance, type InstanceOptions } from './calls/rest-calls.js'
import { type Chain, readChains } from './chains/list-chains.js'
import { type ListedPair, type ListedToken, readPairs, readTokens } from './chains/list-tokens.js'
import { type CheckedOffer, type OfferCheck, readOfferCheck, toCheckBody } from './offers/check-offer.js'
import type { IdentifyOffer } from './offers/offer-identity.js'
import { createOrderMethods, type OrderMethods } from './orders/order-methods.js'
import { type PriceAnswer, readPriceAnswer } from './quotes/get-price.js'
import {
  type PriceParams,
  type QuoteAnswer,
  type QuoteParams,
  readQuoteAnswer,
  toPriceBody,
  toQuoteBody,
} from './quotes/get-quote.js'
import { type QuoteRecord, readQuoteRecord } from './quotes/get-quote-record.js'
import {
  type QuoteStreamMessage,
  type QuoteStreamOptions,
  type QuoteStreamParams,
  streamQuotes,
  toQuoteStreamBody,
} from './quotes/stream-quotes.js'
import {
  type OwnResultPage,
  type OwnResultsParams,
  readOwnResultPage,
  type SignedOwnResults,
  toOwnResultsBody,
} from './solvers/list-own-results.js'
import {
  readSolverStatsByHour,
  readSolverStatsList,
  type SolverStats,
  type SolverStatsByHour,
  type SolverStatsParams,
  toWindowQuery,
} from './solvers/list-solver-stats.js'
import {
  type ListedSolver,
  type RegisteredSolver,
  readRegisteredSolver,
  readSolvers,
} from './solvers/list-solvers.js'
import type { SignedRegistration, SignedUnregistration } from './solvers/sign-registration.js'

/** What two requests have beside what their path says. */
type Registration = Omit<Messages['RegisterSolverRequest'], 'chainId'>
type Unregistration = Omit<Messages['UnregisterSolverRequest'], 'chainId' | 'address'>

export interface AggregatorClientOptions extends InstanceOptions {
  /** For other instances of the protocol, whose offers have no order id: `identifyOffers(settlement)`. */
  readonly identifyOffer?: IdentifyOffer
}

/** The client of one instance. Every method throws AggregatorError. */
export interface AggregatorClient extends OrderMethods {
  /** Asks for a quote. The instance may answer anything: check the offer with `verifyQuote`. */
  getQuote(params: QuoteParams, options?: CallOptions): Promise<QuoteAnswer>
  /**
   * Asks for a quote, and yields each better offer as it comes, then the end of the round. With `refreshSeconds` a new round
   * starts that often, for up to 10 minutes. Leaving the loop cancels the instance's requests to solvers. A lost connection
   * throws: the stream does not reconnect by itself. The instance may answer anything: check an offer with `verifyQuote`.
   */
  streamQuotes(params: QuoteStreamParams, options?: QuoteStreamOptions): AsyncIterable<QuoteStreamMessage>
  /** Asks what a swap would give, without a user. Nobody can deposit with the answer. */
  getPrice(params: PriceParams, options?: CallOptions): Promise<PriceAnswer>
  /**
   * Asks whether an offer can still be deposited; it may be of another instance. It can only stop a deposit, never permit one: the user's
   * own node decides, which `sendDeposit` reads.
   */
  checkOffer(chainId: number, offer: CheckedOffer, options?: CallOptions): Promise<OfferCheck>
  /** Describes the chains of the instance. It is discovery, not trust: an instance could name any contract. */
  listChains(options?: CallOptions): Promise<Chain[]>
  /** Lists tokens of a chain: those of the operator's list, then those of settled orders. It is no recommendation. */
  listTokens(chainId: number, options?: CallOptions): Promise<ListedToken[]>
  /** Lists the pairs that settled orders of a chain have traded, those of listed tokens first. */
  listPairs(chainId: number, options?: CallOptions): Promise<ListedPair[]>
  /** Reads how a quote came about. */
  getQuoteRecord(chainId: number, quoteId: string, options?: CallOptions): Promise<QuoteRecord>
  /** Lists the active solvers, the longest registered first. */
  listSolvers(chainId: number, options?: CallOptions): Promise<ListedSolver[]>
  /** Sums up what the solvers of a chain did. The registered ones are first, the longest registered of them first. */
  listSolverStats(chainId: number, params?: SolverStatsParams, options?: CallOptions): Promise<SolverStats[]>
  /** Sums up what one solver did, and by hour. The address may be in any letter case. */
  getSolverStats(
    chainId: number,
    solver: Address,
    params?: SolverStatsParams,
    options?: CallOptions,
  ): Promise<SolverStatsByHour>
  /** Registers a solver, or updates its endpoint and name. @returns its address, and the result of a request to its endpoint */
  registerSolver(registration: SignedRegistration, options?: CallOptions): Promise<RegisteredSolver>
  /** Removes a solver. @returns its address */
  unregisterSolver(unregistration: SignedUnregistration, options?: CallOptions): Promise<Address>
  /** Lists what came of the requests to a solver, newest first, for the solver itself. @returns one page */
  listOwnResults(
    signed: SignedOwnResults,
    params?: OwnResultsParams,
    options?: CallOptions,
  ): Promise<OwnResultPage>
}

/**
 * Builds a client of one instance. It sends nothing before the first call.
 * @throws AggregatorError ANSWER_INVALID for a bad `baseUrl`, INVALID_ARGUMENT for a bad `timeoutMs`
 */
export function createAggregatorClient(options: AggregatorClientOptions): AggregatorClient {
  const { identifyOffer } = options
  const instance = createInstance(options)
  const { call } = instance
  const get = <T>(path: () => string, read: (answer: unknown) => T, callOptions?: CallOptions) =>
    call(() => ({ path: path() }), read, callOptions)

  return {
    ...createOrderMethods(instance),
    getQuote: (params, callOptions) =>
      call(
        () => ({ path: `/v1/${params.chainId}/quote`, body: toQuoteBody(params) }),
        (answer) =>
          readQuoteAnswer(answer, (quote, signature) => identifyOffer?.(params.chainId, quote, signature)),
        callOptions,
      ),
    streamQuotes: (params, options = {}) =>
      untilReturned(options, async function* ({ signal }) {
        const body = await checked(async () => toQuoteStreamBody(params))
        const request = { path: `/v1/${params.chainId}/quote/stream`, body }
        yield* streamQuotes((read, ending) => instance.open(request, read, ending), signal)
      }),
    getPrice: (params, callOptions) =>
      call(
        () => ({ path: `/v1/${params.chainId}/price`, body: toPriceBody(params) }),
        readPriceAnswer,
        callOptions,
      ),
    checkOffer: (chainId, offer, callOptions) => {
      const write = () => ({ path: chainPath(chainId, 'offers/check'), body: toCheckBody(offer) })
      return call(write, (answer) => readOfferCheck(answer, offer), callOptions)
    },
    listChains: (callOptions) => get(() => '/v1/chains', readChains, callOptions),
    listTokens: (chainId, callOptions) =>
      get(
        () => chainPath(chainId, 'tokens'),
        (answer) => readTokens(answer, instance.url),
        callOptions,
      ),
    listPairs: (chainId, callOptions) => get(() => chainPath(chainId, 'pairs'), readPairs, callOptions),
    getQuoteRecord: (chainId, quoteId, callOptions) =>
      get(
        () => chainPath(chainId, `quote/${encodeURIComponent(quoteId)}`, { quoteId: textProblem(quoteId) }),
        readQuoteRecord,
        callOptions,
      ),
    listSolvers: (chainId, callOptions) => get(() => chainPath(chainId, 'solvers'), readSolvers, callOptions),
    listSolverStats: (chainId, params = {}, callOptions) =>
      get(
        () => chainPath(chainId, 'solvers/stats') + toWindowQuery(params),
        readSolverStatsList,
        callOptions,
      ),
    getSolverStats: (chainId, solver, params = {}, callOptions) => {
      const path = () => solverPath(chainId, solver, '/stats') + toWindowQuery(params)
      return get(path, readSolverStatsByHour, callOptions)
    },
    registerSolver: (registration, callOptions) => {
      const write = () => {
        const { chainId, ...body } = registration
        return { path: chainPath(chainId, 'solvers/register'), body: body satisfies Registration }
      }
      return call(write, readRegisteredSolver, callOptions)
    },
    unregisterSolver: (unregistration, callOptions) => {
      const write = () => {
        const { chainId, address, ...body } = unregistration
        const path = solverPath(chainId, address)
        return { path, body: body satisfies Unregistration, verb: 'DELETE' } as const
      }
      // Other instances of the protocol do not repeat the address.
      const read = (answer: unknown) =>
        readAddress(readMessage<'UnregisterSolverResponse'>(answer).address ?? unregistration.address)
      return call(write, read, callOptions)
    },
    listOwnResults: (signed, params = {}, callOptions) => {
      const write = () => {
        const path = solverPath(signed.chainId, signed.address, '/results')
        return { path, body: toOwnResultsBody(signed, params) }
      }
      return call(write, readOwnResultPage, callOptions)
    },
  }
}
