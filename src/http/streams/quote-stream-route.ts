import { once } from 'node:events'
import type { OutgoingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  QuoteRoundEndSchema,
  QuoteUpdateSchema,
  type StreamQuotesRequest,
} from '../../../gen/aggregator/v1/quote_pb.js'
import { toServiceError } from '../../../packages/protocol/src/errors.js'
import type { QuoteStreamMessage, QuoteStreams } from '../../rpc/streams/quote-streams.js'
import type { HttpContext } from '../context.js'
import { isCancelled, RestContext, toLimitedCall } from '../request.js'
import { rejectOtherMethods } from '../rest/error-routes.js'
import { compileRoutes } from '../rest/http-rules.js'
import { compileJsonWriter } from '../rest/proto-json.js'
import { errorBody } from '../rest/rest-errors.js'
import { chainIdOf, createRequestReader } from '../rest/transcoder.js'
import { SSE_HEADERS } from './sse.js'

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
  context: HttpContext,
): void {
  for (const route of compileRoutes(streams.desc)) {
    const read = createRequestReader(streams.desc.input, route)
    server.route({
      method: route.verb,
      url: route.url,
      onRequest: (request, reply) =>
        streams.checkChainAndLimits(chainIdOf(request), toLimitedCall(request, reply)),
      handler(request, reply) {
        const { message, violations } = read(request)
        const messages = streams.open(
          message as StreamQuotesRequest,
          new RestContext(request, reply, 'sse'),
          violations,
        )
        request.body = undefined
        void writeStream(messages, request, reply)
      },
    })
    rejectOtherMethods(server, context, route.url, [route.verb], (request) =>
      streams.assertChain(chainIdOf(request)),
    )
  }
}

/** Writes each message when the client has taken those before. A stream of Node would take further ones from the rounds. */
async function writeStream(
  messages: AsyncIterable<QuoteStreamMessage>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  reply.hijack()
  const response = reply.raw
  if (isCancelled(reply)) return
  response.writeHead(200, reply.headers(SSE_HEADERS).getHeaders() as OutgoingHttpHeaders)
  // The headers leave with the first bytes. Until there is an offer, they show that the stream is open.
  response.write(COMMENT)
  try {
    for await (const message of messages)
      if (!response.write(toServerSentEvent(message))) await once(response, 'drain')
  } catch (thrown) {
    const error = toServiceError(thrown)
    request.rejection = error
    response.write(block('error', errorBody(error)))
  }
  response.end()
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
