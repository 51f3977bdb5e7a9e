import type { onRequestHookHandler } from 'fastify'
import { ClientCounts } from '../clients/client-counts.js'
import { cut } from './request.js'

/**
 * The most open responses of one client: browsers open at most a hundred streams on a connection. A response that its client does
 * not read holds some 30 KiB, which are what a request needs, and one slice of a file.
 */
export const MAX_OPEN_RESPONSES = 128
/** The most open responses of all clients together. */
export const MAX_OPEN_RESPONSES_OF_ALL = 1024

/**
 * Bounds the responses without a rate limit that wait for their clients to read them. A further request is cut: its HTTP/1.1
 * connection, with all that waits on it, or its HTTP/2 stream. A client that does not read would not read an error either.
 * @param total the most of all clients; Infinity for what must be answered while strangers hold all places, such as `/health`
 */
export function limitOpenResponses(total: number): onRequestHookHandler {
  const open = new ClientCounts({ perClient: MAX_OPEN_RESPONSES, total })
  return (request, reply, done) => {
    const { client } = request
    if (open.fullAt(client) !== undefined) {
      reply.hijack()
      return cut(request)
    }
    open.add(client)
    reply.raw.once('close', () => open.remove(client))
    done()
  }
}
