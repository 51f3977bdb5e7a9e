import type { Address, Hex } from 'viem'
import { linkSignal, untilReturned } from './abort.js'
import { readAddress, readList, readMessage } from './answer-fields.js'
import {
  addressProblem,
  bytes32Problem,
  chainIdProblem,
  check,
  checkOptions,
  objectProblem,
  textProblem,
} from './arguments.js'
import { type Chain, readChains } from './chains.js'
import { AggregatorError, invalidCall } from './errors.js'
import { type EventFilter, toFilterQuery } from './event-filter.js'
import { type OrderEvent, readStreamMessage } from './events.js'
import { type FollowOptions, followEvents, type StreamOptions } from './follow-events.js'
import { type CallOptions, createInstance } from './http.js'
import type { Messages } from './messages.js'
import { type Order, readOrder } from './order.js'
import { type PriceAnswer, readPriceAnswer } from './price.js'
import {
  type PriceParams,
  type QuoteAnswer,
  type QuoteParams,
  readQuoteAnswer,
  toPriceBody,
  toQuoteBody,
} from './quote.js'
import { type QuoteRecord, readQuoteRecord } from './quote-record.js'
import {
  type QuoteStreamMessage,
  type QuoteStreamOptions,
  type QuoteStreamParams,
  streamQuotes,
  toQuoteStreamBody,
} from './quote-stream.js'
import type { SignedRegistration, SignedUnregistration } from './registration.js'
import {
  type ListedSolver,
  type RegisteredSolver,
  readListedSolver,
  readRegisteredSolver,
} from './solvers.js'
import { type WatchOrderOptions, watchOrder } from './watch-order.js'

export interface AggregatorClientOptions {
  /** Where the instance answers, such as `https://quotes.example`, with or without a path. */
  readonly baseUrl: string | URL
  /** Longest wait for an answer, in milliseconds; 10000 when left out. A call may have its own. Streams have none. */
  readonly timeoutMs?: number
  /** Sends the requests, such as with headers for a gateway; the platform's `fetch` when left out. */
  readonly fetch?: typeof fetch
}

/** The client of one instance. Every method throws AggregatorError. */
export interface AggregatorClient {
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
  /** Describes the chains of the instance. It is discovery, not trust: an instance could name any contract. */
  listChains(options?: CallOptions): Promise<Chain[]>
  /** Reads how a quote came about. */
  getQuoteRecord(chainId: number, quoteId: string, options?: CallOptions): Promise<QuoteRecord>
  /** Reads an order as the settlement contract has it. An order that the contract does not know is NONE. */
  getOrder(chainId: number, orderId: Hex, options?: CallOptions): Promise<Order>
  /** Lists the active solvers, the longest registered first. */
  listSolvers(chainId: number, options?: CallOptions): Promise<ListedSolver[]>
  /** Registers a solver, or updates its endpoint and name. @returns its address, and the result of a request to its endpoint */
  registerSolver(registration: SignedRegistration, options?: CallOptions): Promise<RegisteredSolver>
  /** Removes a solver. @returns its address */
  unregisterSolver(unregistration: SignedUnregistration, options?: CallOptions): Promise<Address>
  /**
   * Follows the order events, each once and in order. After a lost connection it resumes at its cursor, as often as necessary.
   * It throws what another attempt cannot mend, such as CURSOR_UNKNOWN, INVALID_ARGUMENT and CHAIN_NOT_SUPPORTED.
   * CURSOR_UNKNOWN also ends a stream when the event log has lost events that it had sent, as after a restored backup.
   */
  streamEvents(filter?: EventFilter, options?: StreamOptions): AsyncIterable<OrderEvent>
  /**
   * Follows one order: its state now, then each change. After a reorganisation the state may be an earlier one. The watch ends
   * when SETTLED or REFUNDED has lasted for `finalAfterMs`, or by the signal.
   */
  watchOrder(chainId: number, orderId: Hex, options?: WatchOrderOptions): AsyncIterable<Order>
}

const TIMEOUT_MS = 10_000

/**
 * Builds a client of one instance. It sends nothing before the first call.
 * @throws AggregatorError ANSWER_INVALID for a bad `baseUrl`, INVALID_ARGUMENT for a bad `timeoutMs`
 */
export function createAggregatorClient(options: AggregatorClientOptions): AggregatorClient {
  const { baseUrl, timeoutMs = TIMEOUT_MS, fetch = globalThis.fetch } = options
  const instance = createInstance({ baseUrl, timeoutMs, fetch })

  const getOrder: AggregatorClient['getOrder'] = (chainId, orderId, callOptions) =>
    checked(() => {
      check({ chainId: chainIdProblem(chainId), orderId: bytes32Problem(orderId) })
      return instance.call({ verb: 'GET', path: `/v1/${chainId}/order/${orderId}` }, readOrder, callOptions)
    })

  const follow = (filter: EventFilter, options: FollowOptions) => {
    const open = (from: EventFilter, signal: AbortSignal) =>
      instance.open({ verb: 'GET', path: `/v1/events?${toFilterQuery(from)}` }, readStreamMessage, signal)
    return followEvents(open, filter, options)
  }

  return {
    getOrder,
    getQuote: (params, callOptions) =>
      checked(() => {
        const body = toQuoteBody(params)
        return instance.call(
          { verb: 'POST', path: `/v1/${params.chainId}/quote`, body },
          readQuoteAnswer,
          callOptions,
        )
      }),
    streamQuotes: (params, options = {}) =>
      untilReturned(async function* (ending) {
        checkOptions(options)
        const body = await checked(async () => toQuoteStreamBody(params))
        const request = { verb: 'POST', path: `/v1/${params.chainId}/quote/stream`, body } as const
        const unlink = linkSignal(options.signal, ending)
        try {
          yield* streamQuotes((read, signal) => instance.open(request, read, signal), ending.signal)
        } finally {
          unlink()
        }
      }),
    getPrice: (params, callOptions) =>
      checked(() => {
        const body = toPriceBody(params)
        const request = { verb: 'POST', path: `/v1/${params.chainId}/price`, body } as const
        return instance.call(request, readPriceAnswer, callOptions)
      }),
    listChains: (callOptions) =>
      checked(() => instance.call({ verb: 'GET', path: '/v1/chains' }, readChains, callOptions)),
    getQuoteRecord: (chainId, quoteId, callOptions) =>
      checked(() => {
        check({ chainId: chainIdProblem(chainId), quoteId: textProblem(quoteId) })
        const path = `/v1/${chainId}/quote/${encodeURIComponent(quoteId)}`
        return instance.call({ verb: 'GET', path }, readQuoteRecord, callOptions)
      }),
    listSolvers: (chainId, callOptions) =>
      checked(() => {
        check({ chainId: chainIdProblem(chainId) })
        const read = (solvers: unknown) => readList(solvers).map(readListedSolver)
        return instance.call({ verb: 'GET', path: `/v1/${chainId}/solvers` }, read, callOptions)
      }),
    registerSolver: (registration, callOptions) =>
      checked(() => {
        const { chainId, ...body } = registration
        check({ chainId: chainIdProblem(chainId) })
        const request: Omit<Messages['RegisterSolverRequest'], 'chainId'> = body
        const call = { verb: 'POST', path: `/v1/${chainId}/solvers/register`, body: request } as const
        return instance.call(call, readRegisteredSolver, callOptions)
      }),
    unregisterSolver: (unregistration, callOptions) =>
      checked(() => {
        const { chainId, address, ...body } = unregistration
        check({ chainId: chainIdProblem(chainId), address: addressProblem(address) })
        const request: Omit<Messages['UnregisterSolverRequest'], 'chainId' | 'address'> = body
        const call = { verb: 'DELETE', path: `/v1/${chainId}/solvers/${address}`, body: request } as const
        const read = (answer: unknown) => readAddress(readMessage<'UnregisterSolverResponse'>(answer).address)
        return instance.call(call, read, callOptions)
      }),
    streamEvents: (filter = {}, options = {}) =>
      untilReturned(async function* (ending) {
        checkOptions(options)
        check({ filter: objectProblem(filter) })
        const unlink = linkSignal(options.signal, ending)
        try {
          for await (const notice of follow(filter, { ...options, signal: ending.signal })) {
            if (notice.type !== 'connected' && notice.type !== 'disconnected') yield notice
          }
        } finally {
          unlink()
        }
      }),
    watchOrder: (chainId, orderId, options = {}) =>
      untilReturned(async function* (ending) {
        check({ chainId: chainIdProblem(chainId), orderId: bytes32Problem(orderId) })
        checkOptions(options)
        const filter = { chainIds: [chainId], orderIds: [orderId] }
        const source = {
          follow: (streamOptions: StreamOptions) =>
            follow(filter, { ...streamOptions, isPlaceOptional: true }),
          read: (signal: AbortSignal) => getOrder(chainId, orderId, { signal }),
        }
        yield* watchOrder(source, options, ending)
      }),
  }
}

/** Makes an AggregatorError of what the arguments of a call provoke, like all failures of calls. */
async function checked<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (thrown) {
    if (thrown instanceof AggregatorError) throw thrown
    const said = thrown instanceof Error ? thrown.message : String(thrown)
    throw invalidCall([{ field: 'arguments', message: `cannot be sent: ${said}` }], thrown)
  }
}
