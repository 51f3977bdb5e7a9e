import { createClient, type Transport } from '@connectrpc/connect'
import { createConnectTransport } from '@connectrpc/connect-web'
import type { Address, Hex } from 'viem'
import { EventService } from '../../../gen/aggregator/v1/event_pb.js'
import { OrderService } from '../../../gen/aggregator/v1/order_pb.js'
import { QuoteService } from '../../../gen/aggregator/v1/quote_pb.js'
import { SolverService } from '../../../gen/aggregator/v1/solver_pb.js'
import type { Order } from '../../../src/domain/order.js'
import { readAddress } from './answer-fields.js'
import { toAggregatorError } from './errors.js'
import { type EventFilter, type OrderEvent, toFilterMessage } from './events.js'
import { type FollowOptions, followEvents, type StreamOptions } from './follow-events.js'
import { readOrder } from './order.js'
import { type Ask, type QuoteAnswer, readQuoteAnswer, toQuoteMessage } from './quote.js'
import { type QuoteRecord, readQuoteRecord } from './quote-record.js'
import type { SignedRegistration, SignedUnregistration } from './registration.js'
import { type ListedSolver, readListedSolver } from './solvers.js'
import { type WatchOrderOptions, watchOrder } from './watch-order.js'

export interface AggregatorClientOptions {
  /** Where the instance answers, such as `https://quotes.example`. */
  readonly baseUrl: string
  /** How calls travel; Connect over `fetch` when left out, for Node 20 and browsers. */
  readonly transport?: Transport
}

export interface CallOptions {
  /** Cancels the call. */
  readonly signal?: AbortSignal
  /** Longest wait; the service answers a quote shortly before, with what has come by then. */
  readonly timeoutMs?: number
}

/** One instance, called from outside. Every method throws AggregatorError. */
export interface AggregatorClient {
  /** Asks for a quote. What comes back is the instance's word: check it with `verifyQuote`. */
  getQuote(ask: Ask, options?: CallOptions): Promise<QuoteAnswer>
  /** Tells how a quote came about. */
  getQuoteRecord(chainId: number, quoteId: string, options?: CallOptions): Promise<QuoteRecord>
  /** Reads an order as the settlement contract has it; one that it does not know is NONE. */
  getOrder(chainId: number, orderId: Hex, options?: CallOptions): Promise<Order>
  /** Lists the active solvers, the longest registered first. */
  listSolvers(chainId: number, options?: CallOptions): Promise<ListedSolver[]>
  /** Registers a solver, or updates its endpoint and name. @returns its address */
  registerSolver(registration: SignedRegistration, options?: CallOptions): Promise<Address>
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

/** How long one read of an order may take while it is watched. */
const WATCH_READ_MS = 10_000

/** Builds a client of one instance. Nothing is sent before the first call. */
export function createAggregatorClient(options: AggregatorClientOptions): AggregatorClient {
  const { baseUrl, transport = createConnectTransport({ baseUrl }) } = options
  const quotes = createClient(QuoteService, transport)
  const orders = createClient(OrderService, transport)
  const solvers = createClient(SolverService, transport)
  const events = createClient(EventService, transport)

  const getOrder: AggregatorClient['getOrder'] = (chainId, orderId, callOptions) =>
    answer(async () => readOrder(await orders.getOrder({ chainId: BigInt(chainId), orderId }, callOptions)))

  const follow = (filter: EventFilter, streamOptions: FollowOptions) =>
    followEvents(
      (from, signal) => events.streamEvents(toFilterMessage(from), { signal }),
      filter,
      streamOptions,
    )

  return {
    getOrder,
    getQuote: (ask, callOptions) =>
      answer(async () => readQuoteAnswer(await quotes.getQuote(toQuoteMessage(ask), callOptions))),
    getQuoteRecord: (chainId, quoteId, callOptions) =>
      answer(async () => {
        const request = { chainId: BigInt(chainId), quoteId }
        return readQuoteRecord(await quotes.getQuoteRecord(request, callOptions))
      }),
    listSolvers: (chainId, callOptions) =>
      answer(async () => {
        const list = await solvers.listSolvers({ chainId: BigInt(chainId) }, callOptions)
        return list.solvers.map(readListedSolver)
      }),
    registerSolver: (registration, callOptions) =>
      answer(async () => {
        const request = {
          ...registration,
          chainId: BigInt(registration.chainId),
          timestamp: BigInt(registration.timestamp),
        }
        return readAddress((await solvers.registerSolver(request, callOptions)).address)
      }),
    unregisterSolver: (unregistration, callOptions) =>
      answer(async () => {
        const request = {
          ...unregistration,
          chainId: BigInt(unregistration.chainId),
          timestamp: BigInt(unregistration.timestamp),
        }
        return readAddress((await solvers.unregisterSolver(request, callOptions)).address)
      }),
    async *streamEvents(filter = {}, streamOptions = {}) {
      for await (const notice of follow(filter, streamOptions)) {
        if (notice.type !== 'connected') yield notice
      }
    },
    watchOrder(chainId, orderId, watchOptions = {}) {
      const filter = { chainIds: [chainId], orderIds: [orderId] }
      const source = {
        follow: (streamOptions: StreamOptions) => follow(filter, { ...streamOptions, isPlaceOptional: true }),
        read: (signal: AbortSignal) => getOrder(chainId, orderId, { signal, timeoutMs: WATCH_READ_MS }),
      }
      return watchOrder(source, watchOptions)
    },
  }
}

async function answer<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (thrown) {
    throw toAggregatorError(thrown)
  }
}
