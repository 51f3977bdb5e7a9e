import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  QuoteRoundEndSchema,
  QuoteUpdateSchema,
  type StreamQuotesRequest,
} from '../../gen/aggregator/v1/quote_pb.js'
import { toServiceError } from '../domain/errors.js'
import type { QuoteStreamMessage } from '../rpc/convert-quote-streams.js'
import type { OpenQuoteStream, QuoteStreams } from '../rpc/quote-streams.js'
import { errorBody } from './error-body.js'
import type { RejectOtherMethods } from './error-handler.js'
import { compileRoutes } from './http-rules.js'
import { compileJsonWriter } from './json-writer.js'
import { createRequestReader } from './request-message.js'
import { cut, isCancelled, RestContext, toClient } from './rest-context.js'
import { SSE_HEADERS } from './sse.js'
import { chainIdOf } from './transcoder.js'

const COMMENT = Buffer.from(':\n\n')
const writeUpdate = compileJsonWriter(QuoteUpdateSchema)
const writeRoundEnd = compileJsonWriter(QuoteRoundEndSchema)

/**
 * Serves StreamQuotes at the path of its `google.api.http` option as server-sent events (docs/decisions.md, D16).
 * @param server a scope that parses JSON
 */
export function registerQuoteStream(
  server: FastifyInstance,
  streams: QuoteStreams,
  rejectOtherMethods: RejectOtherMethods,
): void {
  for (const route of compileRoutes(streams.desc)) {
    const read = createRequestReader(streams.desc.input, route)
    server.route({
      method: route.verb,
      url: route.url,
      config: { cors: false },
      onRequest: (request, reply) =>
        streams.checkChainAndLimits(chainIdOf(request), toClient(request, reply)),
      handler(request, reply) {
        const { message, violations } = read(request)
        const body = new QuoteStreamBody(request, reply)
        const stream = streams.open(message as StreamQuotesRequest, body.caller(), violations)
        return reply.headers(SSE_HEADERS).send(body.begin(stream))
      },
    })
    rejectOtherMethods(route.url, [route.verb], (request) => streams.assertChain(chainIdOf(request)))
  }
}

/** The body of one response: the messages of its stream as server-sent events. */
class QuoteStreamBody {
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply
  #body: Readable | undefined

  constructor(request: FastifyRequest, reply: FastifyReply) {
    this.#request = request
    this.#reply = reply
  }

  caller() {
    const context = new RestContext(this.#request, this.#reply)
    const { requestId, address, timeoutMs, traceparent } = context
    return {
      ...{ protocol: 'sse' as const, requestId, address, timeoutMs, traceparent },
      recordQuote: context.recordQuote.bind(context),
      isDrained: () => this.#reply.raw.writableLength + (this.#body?.readableLength ?? 0) === 0,
      abandon: () => cut(this.#request),
    }
  }

  begin(stream: OpenQuoteStream): Readable {
    const leave = () => stream.leave()
    this.#reply.raw.once('close', leave)
    if (isCancelled(this.#reply)) leave()
    const body = new Readable({ read: () => void this.#writeNext(body, stream) })
    // The headers leave with the first bytes. Until there is an offer, they show that the stream is open.
    body.push(COMMENT)
    this.#body = body
    return body
  }

  async #writeNext(body: Readable, stream: OpenQuoteStream): Promise<void> {
    try {
      const message = await stream.next()
      body.push(message === undefined ? null : toServerSentEvent(message))
    } catch (thrown) {
      const error = toServiceError(thrown)
      this.#request.rejection = error
      body.push(block('error', errorBody(error)))
      body.push(null)
    }
  }
}

function toServerSentEvent(message: QuoteStreamMessage): Buffer {
  switch (message.case) {
    case 'quote':
      return block(message.case, writeUpdate(message.value))
    case 'done':
      return block(message.case, writeRoundEnd(message.value))
    default:
      return COMMENT
  }
}

function block(event: string, data: object): Buffer {
  return Buffer.from(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
}
