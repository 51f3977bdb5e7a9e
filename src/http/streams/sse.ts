import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { StreamEventsResponse } from '../../../gen/aggregator/v1/event_pb.js'
import { encodeBatches, encodeOnce } from '../../events/encode-once.js'
import type { Batch } from '../../events/tail-buffer.js'
import { toConnectedMessage, toEventMessage } from '../../rpc/convert/convert-events.js'
import { END_TIMEOUT_MS, type EventStream, type EventStreams } from '../../rpc/streams/event-streams.js'
import { isCancelled, toLimitedCall } from '../request.js'
import { toEventJson } from './event-json.js'
import type { StreamRequest } from './websocket.js'

/** The headers of a stream of server-sent events. */
export const SSE_HEADERS = {
  'content-type': 'text/event-stream',
  // A gateway that compresses would hold events back until its buffer is full.
  'cache-control': 'no-store, no-transform',
  // Proxies such as nginx would otherwise hold events back to fill their buffers.
  'x-accel-buffering': 'no',
}

const toBlock = encodeOnce((message: StreamEventsResponse) =>
  Buffer.from(`id: ${message.cursor}\ndata: ${toEventJson(message)}\n\n`),
)
const toBlocks = encodeBatches((entry) => toBlock(toEventMessage(entry)))

/**
 * Serves server-sent events. A message's id is its cursor, so that a browser resumes where it was when it connects again.
 * A heartbeat also has an id.
 */
export async function serveSse(
  streams: EventStreams,
  read: () => StreamRequest,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  await streams.checkLimits(toLimitedCall(request, reply))
  const { message, violations } = read()
  const lastEventId = request.headers['last-event-id']
  if (typeof lastEventId === 'string') message.after = lastEventId
  await streams.waitForCursor(message.after, request.client)
  const stream = streams.open(
    message,
    { protocol: 'sse', requestId: request.id, client: request.client },
    violations,
  )
  const body = Readable.from(write(stream, streams.supportedChains), { objectMode: false })
  let endTimer: NodeJS.Timeout | undefined
  stream.subscription.ended.addEventListener('abort', () => {
    endTimer = setTimeout(() => reply.raw.destroy(), END_TIMEOUT_MS).unref()
  })
  reply.raw.once('close', () => {
    stream.close()
    clearTimeout(endTimer)
  })
  if (isCancelled(reply)) stream.close()
  return reply.headers(SSE_HEADERS).send(body)
}

async function* write(stream: EventStream, supportedChains: readonly number[]): AsyncGenerator<Buffer> {
  const { subscription } = stream
  const cursor = subscription.cursor()
  const dueHealth = () => {
    const health = stream.dueHealth()
    return health && toBlock(health)
  }
  yield toBlock(toConnectedMessage(supportedChains, cursor))
  try {
    for (;;) {
      const health = dueHealth()
      if (health !== undefined) yield health
      const batch: Batch = await stream.next()
      if (batch.length > 0) yield toBlocks(batch)
      else yield dueHealth() ?? Buffer.from(`: heartbeat\nid: ${subscription.cursor()}\n\n`)
    }
  } catch (thrown) {
    // It is too late for a status: the connection ends, and the client connects again with its last id.
    stream.close(thrown)
  } finally {
    stream.close()
  }
}
