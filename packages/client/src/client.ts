import type { Address, Hex } from 'viem'
import type { Order } from '../../../src/domain/order.js'
import { readAddress, readList, readMessage } from './answer-fields.js'
import { addressProblem, bytes32Problem, chainIdProblem, check, textProblem } from './arguments.js'
import { AggregatorError, invalidCall } from './errors.js'
import { type EventFilter, type OrderEvent, toFilterQuery } from './events.js'
import { type FollowOptions, followEvents, type StreamOptions } from './follow-events.js'
import { type CallOptions, createInstance } from './http.js'
import type { Messages } from './messages.js'
import { readOrder } from './order.js'
import { type QuoteAnswer, type QuoteParams, readQuoteAnswer, toQuoteBody } from './quote.js'
import { type QuoteRecord, readQuoteRecord } from './quote-record.js'
import type { SignedRegistration, SignedUnregistration } from './registration.js'
import {
  type ListedSolver,
  type RegisteredSolver,
  readListedSolver,
  readRegisteredSolver,
} from './solvers.js'
import { type WatchOrderOptions, watchOrder } from './watch-order.js'

export interface AggregatorClientOptions {
  /** Where the instance answers, such as `https://quotes.example`. */
  readonly baseUrl: string
  /** Longest wait for an answer; 10000 when left out. A call may have its own. Streams have none. */
  readonly timeoutMs?: number
  /** How requests travel, such as with headers of a gateway; the platform's `fetch` when left out. */
  readonly fetch?: typeof fetch
}

/** One instance, called from outside. Every method throws AggregatorError. */
export interface AggregatorClient {
  /** Asks for a quote. What comes back is the instance's word: check it with `verifyQuote`. */
  getQuote(params: QuoteParams, options?: CallOptions): Promise<QuoteAnswer>
  /** Tells how a quote came about. */
  getQuoteRecord(chainId: number, quoteId: string, options?: CallOptions): Promise<QuoteRecord>
  /** Reads an order as the settlement contract has it; one that it does not know is NONE. */
  getOrder(chainId: number, orderId: Hex, options?: CallOptions): Promise<Order>
  /** Lists the active solvers, the longest registered first. */
  listSolvers(chainId: number, options?: CallOptions): Promise<ListedSolver[]>
  /** Registers a solver, or updates its endpoint and name. @returns its address, and what came of a request to its endpoint */
  registerSolver(registration: SignedRegistration, options?: CallOptions): Promise<RegisteredSolver>
  /** Takes a solver out. @returns its address */
  unregisterSolver(unregistration: SignedUnregistration, options?: CallOptions): Promise<Address>
  /**
   * Follows the order events, each once and in order. A lost connection is taken up again by its cursor, for as long as it
   * takes; what cannot get better (such as CURSOR_UNKNOWN, INVALID_ARGUMENT, CHAIN_NOT_SUPPORTED) is thrown. CURSOR_UNKNOWN
   * also ends a stream when the event log has lost events that were sent, as after a restored backup.
   */
  streamEvents(filter?: EventFilter, options?: StreamOptions): AsyncIterable<OrderEvent>
  /**
   * Follows one order: its state now, then each change, also back when a reorganisation takes something back. Ends when
   * SETTLED or REFUNDED has stood for `finalAfterMs`, or by the signal.
   */
  watchOrder(chainId: number, orderId: Hex, options?: WatchOrderOptions): AsyncIterable<Order>
}

const TIMEOUT_MS = 10_000

/**
 * Builds a client of one instance. It sends nothing before the first call.
 * @throws AggregatorError ANSWER_INVALID when `baseUrl` is not an http or https URL
 */
export function createAggregatorClient(options: AggregatorClientOptions): AggregatorClient {
  const { baseUrl, timeoutMs = TIMEOUT_MS, fetch = globalThis.fetch } = options
  const instance = createInstance({ baseUrl, timeoutMs, fetch })

  const getOrder: AggregatorClient['getOrder'] = (chainId, orderId, callOptions) =>
    answer(async () => {
      check({ chainId: chainIdProblem(chainId), orderId: bytes32Problem(orderId) })
      return readOrder(
        await instance.call({ verb: 'GET', path: `/v1/${chainId}/order/${orderId}` }, callOptions),
      )
    })

  const follow = (filter: EventFilter, streamOptions: FollowOptions) => {
    const open = (from: EventFilter, signal: AbortSignal) =>
      instance.open(`/v1/events?${toFilterQuery(from)}`, signal)
    return followEvents(open, filter, streamOptions)
  }

  return {
    getOrder,
    getQuote: (params, callOptions) =>
      answer(async () => {
        const body = toQuoteBody(params)
        return readQuoteAnswer(
          await instance.call({ verb: 'POST', path: `/v1/${params.chainId}/quote`, body }, callOptions),
        )
      }),
    getQuoteRecord: (chainId, quoteId, callOptions) =>
      answer(async () => {
        check({ chainId: chainIdProblem(chainId), quoteId: textProblem(quoteId) })
        const path = `/v1/${chainId}/quote/${encodeURIComponent(quoteId)}`
        return readQuoteRecord(await instance.call({ verb: 'GET', path }, callOptions))
      }),
    listSolvers: (chainId, callOptions) =>
      answer(async () => {
        check({ chainId: chainIdProblem(chainId) })
        const solvers = await instance.call({ verb: 'GET', path: `/v1/${chainId}/solvers` }, callOptions)
        return readList(solvers).map(readListedSolver)
      }),
    registerSolver: (registration, callOptions) =>
      answer(async () => {
        const { chainId, ...body } = registration
        check({ chainId: chainIdProblem(chainId) })
        const request: Omit<Messages['RegisterSolverRequest'], 'chainId'> = body
        const call = { verb: 'POST', path: `/v1/${chainId}/solvers/register`, body: request } as const
        return readRegisteredSolver(await instance.call(call, callOptions))
      }),
    unregisterSolver: (unregistration, callOptions) =>
      answer(async () => {
        const { chainId, address, ...body } = unregistration
        check({ chainId: chainIdProblem(chainId), address: addressProblem(address) })
        const request: Omit<Messages['UnregisterSolverRequest'], 'chainId' | 'address'> = body
        const call = { verb: 'DELETE', path: `/v1/${chainId}/solvers/${address}`, body: request } as const
        return readAddress(
          readMessage<'UnregisterSolverResponse'>(await instance.call(call, callOptions)).address,
        )
      }),
    async *streamEvents(filter = {}, streamOptions = {}) {
      for await (const notice of follow(filter, streamOptions)) {
        if (notice.type !== 'connected') yield notice
      }
    },
    async *watchOrder(chainId, orderId, watchOptions = {}) {
      check({ chainId: chainIdProblem(chainId), orderId: bytes32Problem(orderId) })
      const filter = { chainIds: [chainId], orderIds: [orderId] }
      const source = {
        follow: (streamOptions: StreamOptions) => follow(filter, { ...streamOptions, isPlaceOptional: true }),
        read: (signal: AbortSignal) => getOrder(chainId, orderId, { signal }),
      }
      yield* watchOrder(source, watchOptions)
    },
  }
}

/** Makes whatever a caller's own values provoke an AggregatorError, as all failures of calls are. */
async function answer<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (thrown) {
    if (thrown instanceof AggregatorError) throw thrown
    const said = thrown instanceof Error ? thrown.message : String(thrown)
    throw invalidCall([{ field: 'arguments', message: `cannot be sent: ${said}` }], thrown)
  }
}
