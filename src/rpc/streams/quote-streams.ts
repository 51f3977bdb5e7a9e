import { setMaxListeners } from 'node:events'
import { create, type MessageInitShape } from '@bufbuild/protobuf'
import { ConnectError, type HandlerContext } from '@connectrpc/connect'
import {
  QuoteService,
  type StreamQuotesRequest,
  type StreamQuotesResponse,
  StreamQuotesResponseSchema,
} from '../../../gen/aggregator/v1/quote_pb.js'
import {
  type FieldViolation,
  invalidArgument,
  ServiceError,
  shuttingDown,
  toServiceError,
} from '../../../packages/protocol/src/errors.js'
import { REFRESH_SECONDS } from '../../../packages/protocol/src/field-rules.js'
import type { Auction } from '../../auction/auction.js'
import { type QuoteStreamItem, quoteStream } from '../../auction/quote-stream.js'
import type { CallContext } from '../../clients/call.js'
import { requestKey, toCallContext } from '../call-context.js'
import { Fields } from '../fields.js'
import { createChecks, createOutcomes } from '../middleware.js'
import { type AskedQuote, expiresAtOf, type ReadQuote } from '../services/quote-service.js'
import type { StreamContext } from './context.js'

/** The method StreamQuotes, for all transports (docs/decisions.md, D16). */
export type QuoteStreams = ReturnType<typeof createQuoteStreams>

/** How long a client may take to read the error of its API key. */
const END_MS = 10_000

/** Builds the method. */
export function createQuoteStreams(
  { supportedChains, rateLimits, slots, metrics, clock, log }: StreamContext,
  auction: Auction,
  readQuote: ReadQuote,
) {
  const desc = QuoteService.method.streamQuotes
  const end = new AbortController()
  // Each stream adds a listener. Node warns of a leak when there are more than ten.
  setMaxListeners(0, end.signal)

  const { count, reject } = createOutcomes(desc, { metrics, log })

  /** A stream opens with its first round, which counts as one quote. */
  const checks = createChecks(true, ['streams', 'quote'], supportedChains, rateLimits)

  function read(message: StreamQuotesRequest, malformed: readonly FieldViolation[]) {
    checks.assertChain(Number(message.chainId))
    const fields = new Fields(malformed)
    const asked = readQuote(message, fields)
    const { refreshSeconds } = message
    const refreshMs =
      refreshSeconds === undefined
        ? undefined
        : 1000 * fields.integer('refreshSeconds', refreshSeconds, REFRESH_SECONDS)
    if (fields.violations.length > 0) throw invalidArgument(fields.violations)
    auction.assertReady(asked.chainId)
    return { ...asked, refreshMs }
  }

  function start(
    message: StreamQuotesRequest,
    call: CallContext,
    malformed: readonly FieldViolation[],
  ): AsyncGenerator<QuoteStreamMessage, void> {
    if (end.signal.aborted) throw shuttingDown()
    const asked = read(message, malformed)
    const limited = { client: call.client, setHeader: () => {} }
    let keyError: unknown
    const releaseSlot = slots.take(call.client, (error) => {
      keyError = error
      close(error)
      // A client that does not read would never take the error.
      clock.setTimeout(() => call.isDrained() || call.abandon(), END_MS).unref()
    })
    const leaving = new AbortController()
    const close = (thrown?: unknown): ServiceError | undefined => {
      if (leaving.signal.aborted) return undefined
      leaving.abort()
      releaseSlot()
      metrics.quoteStreams.dec({ protocol: call.protocol })
      if (thrown !== undefined) return reject(call, thrown)
      count(call.protocol, 'OK')
      return undefined
    }
    metrics.quoteStreams.inc({ protocol: call.protocol })
    // A generator is not continued, so that no `finally` runs, when its client leaves while a message waits for it.
    call.signal.addEventListener('abort', () => close())
    if (call.signal.aborted) close()
    const items = quoteStream(
      {
        ...asked,
        auction,
        caller: call,
        admitRound: async () => rateLimits.consume('quote', limited),
        isDrained: () => call.isDrained(),
        abandon() {
          close(new ServiceError('SUBSCRIBER_TOO_SLOW', 'The client did not read its quotes in time.'))
          call.abandon()
        },
        shutDown: end.signal,
        clock,
      },
      leaving.signal,
    )
    async function* toMessages(): AsyncGenerator<QuoteStreamMessage, void> {
      try {
        for await (const item of items) {
          recordQuote(item, call)
          yield toQuoteStreamMessage(item, asked, clock.now())
        }
        if (keyError !== undefined) throw keyError
      } catch (thrown) {
        throw close(thrown) ?? toServiceError(thrown)
      } finally {
        close()
      }
    }
    return toMessages()
  }

  return {
    desc,
    ...checks,
    count,
    /**
     * Opens a stream, after its request was counted.
     * @param malformed fields that could not be read into the message
     * @returns its messages. Take the next one when the last one has been written. The iteration throws ServiceErrors.
     * @throws ServiceError CHAIN_NOT_SUPPORTED, INVALID_ARGUMENT, CHAIN_UNAVAILABLE, STREAM_LIMIT_REACHED or SHUTTING_DOWN
     */
    open(
      message: StreamQuotesRequest,
      call: CallContext,
      malformed: readonly FieldViolation[] = [],
    ): AsyncGenerator<QuoteStreamMessage, void> {
      try {
        return start(message, call, malformed)
      } catch (thrown) {
        throw reject(call, thrown)
      }
    },
    /** Ends all streams after the rounds that are under way. No stream opens any more. */
    shutDown: (): void => end.abort(),
  }
}

/** Adds the result of the last round to the log's line of the stream. */
function recordQuote(item: QuoteStreamItem, call: CallContext): void {
  if (item.kind !== 'done') return
  const winner = item.offers[0]?.quote.solver
  if (winner !== undefined) call.recordQuote({ quoteId: item.quoteId, winner, offers: item.offers.length })
}

/** Builds Connect's handler of StreamQuotes. Connect asks for a message when the client has taken those before. */
export function toQuoteStreamHandler(streams: QuoteStreams) {
  return async function* (
    request: StreamQuotesRequest,
    context: HandlerContext,
  ): AsyncGenerator<StreamQuotesResponse> {
    context.values.get(requestKey).recordReached()
    const messages = streams.open(request, toCallContext(context))
    for await (const message of messages) yield create(StreamQuotesResponseSchema, { message })
    if (context.signal.aborted) throw ConnectError.from(context.signal.reason)
  }
}

export type QuoteStreamMessage = NonNullable<MessageInitShape<typeof StreamQuotesResponseSchema>['message']>

/** The message of an item of a quote stream (docs/decisions.md, D16). @param now Unix time in milliseconds */
function toQuoteStreamMessage(
  item: QuoteStreamItem,
  { toOfferMessage }: AskedQuote,
  now: number,
): QuoteStreamMessage {
  const serverTime = BigInt(now)
  switch (item.kind) {
    case 'quote': {
      const { quoteId, round, offer, counts } = item
      const { asked, ...byKind } = counts
      const answered = Object.values(byKind).reduce((sum, count) => sum + count, 0)
      return {
        case: 'quote',
        value: { ...toOfferMessage(offer), quoteId, round, asked, answered, serverTime },
      }
    }
    case 'done': {
      const { quoteId, round, counts, offers } = item
      const { asked, quoted, declined, invalid, failed, late } = counts
      const [best, ...others] = offers
      return {
        case: 'done',
        value: {
          ...{ quoteId, round, asked, quoted, declined, invalid, failed, late },
          bestOrderId: best?.orderId,
          alternativeQuotes: others.map(toOfferMessage),
          expiresAt: best && expiresAtOf(best.quote),
          serverTime,
        },
      }
    }
    case 'heartbeat':
      return { case: 'heartbeat', value: {} }
  }
}
