import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { encodeOnce } from '../events/encode-once.js'
import type { Batch } from '../events/tail-buffer.js'
import { toConnectedMessage, toEventMessage } from '../rpc/convert-events.js'
import { type EventStream, type EventStreams, FAREWELL_MS } from '../rpc/event-streams.js'
import { toEventJson } from './event-json.js'
import { isCancelled, toClient } from './rest-context.js'
import type { StreamRequest } from './websocket.js'

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  // Proxies of nginx's kind would keep events back to fill their buffers.
  'x-accel-buffering': 'no',
}

const toBytes = encodeOnce((entry) => block(entry.cursor, toEventJson(toEventMessage(entry))))

/**
 * Answers with server-sent events. A message's id is its cursor, so that a browser that comes back goes on where it
 * was; a heartbeat moves the id as well.
 */
export async function serveSse(
  streams: EventStreams,
  read: () => StreamRequest,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  await streams.checkLimits(toClient(request, reply))
  const { message, violations } = read()
  const lastEventId = request.headers['last-event-id']
  if (typeof lastEventId === 'string') message.after = lastEventId
  await streams.waitForCursor(message.after, request.clientAddress)
  const stream = streams.open(
    message,
    { protocol: 'sse', requestId: request.id, address: request.clientAddress },
    violations,
  )
  const body = Readable.from(write(stream, streams.supportedChains), { objectMode: false })
  let farewell: NodeJS.Timeout | undefined
  stream.ended.addEventListener('abort', () => {
    farewell = setTimeout(() => reply.raw.destroy(), FAREWELL_MS).unref()
  })
  reply.raw.once('close', () => {
    stream.close()
    clearTimeout(farewell)
  })
  if (isCancelled(reply)) stream.close()
  return reply.headers(HEADERS).send(body)
}

async function* write(stream: EventStream, supportedChains: readonly number[]): AsyncGenerator<Buffer> {
  const cursor = stream.cursor()
  yield block(cursor, toEventJson(toConnectedMessage(supportedChains, cursor)))
  try {
    for (;;) {
      const batch: Batch = await stream.next()
      yield batch.length === 0 ? Buffer.from(`: heartbeat\nid: ${stream.cursor()}\n\n`) : toBytes(batch)
    }
  } catch (thrown) {
    // There is no status any more: the connection ends, and the client comes back with its last id.
    stream.close(thrown)
  } finally {
    stream.close()
  }
}

function block(id: string, data: string): Buffer {
  return Buffer.from(`id: ${id}\ndata: ${data}\n\n`)
}
