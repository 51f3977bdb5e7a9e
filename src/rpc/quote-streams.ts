import { QuoteService, type StreamQuotesRequest } from '../../gen/aggregator/v1/quote_pb.js'
import {
  chainNotSupported,
  type FieldViolation,
  invalidArgument,
  ServiceError,
  shuttingDown,
  toServiceError,
} from '../domain/errors.js'
import { REFRESH_SECONDS } from '../domain/field-rules.js'
import type { Aggregator } from '../quoting/aggregator.js'
import { QuoteStream, type QuoteStreamItem } from '../quoting/quote-stream.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import { type QuoteStreamMessage, toQuoteStreamMessage } from './convert-quote-streams.js'
import type { StreamProtocol } from './event-streams.js'
import { Fields } from './fields.js'
import { identifyClient } from './identify-client.js'
import type { Admission, RequestContext } from './method.js'
import type { Client, RateLimits } from './rate-limits.js'
import type { ReadQuote } from './read-quote.js'
import { createStreamOutcomes } from './stream-outcomes.js'
import type { StreamSlots } from './stream-slots.js'

/** The method StreamQuotes, for all transports (docs/decisions.md, D16). */
export interface QuoteStreams extends Admission {
  readonly desc: typeof QuoteService.method.streamQuotes
  /** Does what `checkLimits` does for a request whose path names its chain. @throws ServiceError CHAIN_NOT_SUPPORTED or RATE_LIMITED */
  checkChainAndLimits(chainId: number | undefined, client: Client): Promise<void>
  /** @throws ServiceError CHAIN_NOT_SUPPORTED */
  assertChain(chainId: number | undefined): void
  /**
   * Opens a stream, after its request was counted.
   * @param malformed fields that could not be read into the message
   * @throws ServiceError CHAIN_NOT_SUPPORTED, INVALID_ARGUMENT, CHAIN_UNAVAILABLE, STREAM_LIMIT_REACHED or SHUTTING_DOWN
   */
  open(
    message: StreamQuotesRequest,
    caller: QuoteStreamCaller,
    malformed?: readonly FieldViolation[],
  ): OpenQuoteStream
  /** Ends all streams after the rounds that are under way. No stream opens any more. */
  shutDown(): void
}

/** The connection of a quote stream. */
export interface QuoteStreamCaller
  extends Omit<RequestContext, 'protocol' | 'host' | 'signal' | 'setHeader'> {
  readonly protocol: StreamProtocol
  /** Whether everything that was sent has left this process. */
  isDrained(): boolean
  /** Ends the connection, or on HTTP/2 the stream, of a client that does not read. */
  abandon(): void
}

/** One client's stream. */
export interface OpenQuoteStream {
  /**
   * Its next message. Call it when the last one has been written.
   * @returns undefined at the end
   * @throws ServiceError
   */
  next(): Promise<QuoteStreamMessage | undefined>
  /** Ends the stream, as the client has left. */
  leave(): void
}

interface QuoteStreamsOptions {
  readonly aggregator: Aggregator
  readonly readQuote: ReadQuote
  readonly supportedChains: readonly number[]
  readonly rateLimits: RateLimits
  readonly slots: StreamSlots
  readonly metrics: Pick<Metrics, 'requests' | 'quoteStreams'>
  readonly log: Logger
}

/** Builds the method. */
export function createQuoteStreams(options: QuoteStreamsOptions): QuoteStreams {
  const { aggregator, readQuote, supportedChains, rateLimits, slots, metrics, log } = options
  const desc = QuoteService.method.streamQuotes
  const name = `${desc.parent.typeName}/${desc.name}`
  const streams = new Set<QuoteStream>()
  let isShuttingDown = false

  const { count, reject } = createStreamOutcomes({ method: name, metrics, log })

  function isSupported(chainId: number | undefined): boolean {
    return chainId !== undefined && supportedChains.includes(chainId)
  }

  function assertChain(chainId: number | undefined): void {
    if (!isSupported(chainId)) throw chainNotSupported(supportedChains)
  }

  /** A stream opens with its first round, which counts as one quote. */
  async function checkLimits(client: Client): Promise<void> {
    await rateLimits.consume('streams', client)
    await rateLimits.consume('quote', client)
  }

  function read(message: StreamQuotesRequest, malformed: readonly FieldViolation[]) {
    assertChain(Number(message.chainId))
    const fields = new Fields(malformed)
    const asked = readQuote(message, fields)
    const { refreshSeconds } = message
    const refreshMs =
      refreshSeconds === undefined
        ? undefined
        : 1000 * fields.integer('refreshSeconds', refreshSeconds, REFRESH_SECONDS)
    if (fields.violations.length > 0) throw invalidArgument(fields.violations)
    aggregator.assertReady(asked.chainId)
    return { ...asked, refreshMs }
  }

  function start(
    message: StreamQuotesRequest,
    caller: QuoteStreamCaller,
    malformed: readonly FieldViolation[],
  ): OpenQuoteStream {
    if (isShuttingDown) throw shuttingDown()
    const asked = read(message, malformed)
    const client = { address: caller.address, setHeader: () => {} }
    const releaseSlot = slots.take(identifyClient(caller.address))
    let isOpen = true
    const close = (thrown?: unknown): ServiceError | undefined => {
      if (!isOpen) return undefined
      isOpen = false
      stream.leave()
      streams.delete(stream)
      releaseSlot()
      metrics.quoteStreams.dec({ protocol: caller.protocol })
      if (thrown !== undefined) return reject(caller, thrown)
      count(caller.protocol, 'OK')
      return undefined
    }
    const stream = new QuoteStream({
      ...asked,
      aggregator,
      caller,
      admitRound: async () => rateLimits.consume('quote', client),
      isDrained: caller.isDrained,
      abandon() {
        close(new ServiceError('SUBSCRIBER_TOO_SLOW', 'The client did not read its quotes in time.'))
        caller.abandon()
      },
    })
    streams.add(stream)
    metrics.quoteStreams.inc({ protocol: caller.protocol })
    return {
      leave: () => void close(),
      async next() {
        try {
          const item = await stream.next()
          if (item === undefined) return void close()
          recordQuote(item, caller)
          return toQuoteStreamMessage(item)
        } catch (thrown) {
          throw close(thrown) ?? toServiceError(thrown)
        }
      },
    }
  }

  return {
    desc,
    assertChain,
    checkLimits,
    async checkChainAndLimits(chainId, client) {
      if (isSupported(chainId)) await checkLimits(client)
      else await rateLimits.consume('global', client)
      assertChain(chainId)
    },
    count,
    open(message, caller, malformed = []) {
      try {
        return start(message, caller, malformed)
      } catch (thrown) {
        throw reject(caller, thrown)
      }
    },
    shutDown() {
      isShuttingDown = true
      for (const stream of streams) stream.shutDown()
    },
  }
}

/** Adds the result of the last round to the log's line of the stream. */
function recordQuote(item: QuoteStreamItem, caller: QuoteStreamCaller): void {
  if (item.kind !== 'done') return
  const winner = item.offers[0]?.quote.solver
  if (winner !== undefined) caller.recordQuote({ quoteId: item.quoteId, winner, offers: item.offers.length })
}
