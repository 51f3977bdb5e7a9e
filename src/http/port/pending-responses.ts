import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { closeQueuedResponse } from '../../internals/close-queued-response.js'
import type { ClientTimeouts } from './client-timeouts.js'

interface ResponseListener {
  /** Called when a request has arrived, before it is handled. */
  onBegin(response: ServerResponse): void
  /** Called when a response is complete, or its connection has ended. */
  onEnd(): void
}

/** HTTP/1.1 requests that a client may send on a connection before it has their responses. */
const MAX_UNANSWERED_REQUESTS = 16

/**
 * Bounds the HTTP/1.1 responses that a connection waits for. The server ends the connection of a client that sends too
 * many requests ahead, does not read, or keeps the server from reading for too long.
 * @returns whether a connection waits for a response
 */
export function supervisePendingResponses(
  server: Server,
  timeouts: Pick<ClientTimeouts, 'pausedMs'>,
  { onBegin, onEnd }: ResponseListener,
): (socket: Socket) => boolean {
  /** In the order of their requests. */
  const responses = new WeakMap<Socket, Set<ServerResponse>>()

  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    if (socket.destroyed) return
    const pending = responsesOf(socket)
    if (pending.size >= MAX_UNANSWERED_REQUESTS) return void socket.destroy()
    onBegin(response)
    pending.add(response)
    response.on('close', forget)
  })
  server.on('timeout', (socket) => {
    if (!hasPending(socket) || isStalled(socket)) socket.destroy()
  })

  function forget(this: ServerResponse): void {
    responses.get(this.req.socket)?.delete(this)
    onEnd()
  }

  const hasPending = (socket: Socket) => (responses.get(socket)?.size ?? 0) > 0

  function responsesOf(socket: Socket): Set<ServerResponse> {
    const known = responses.get(socket)
    if (known !== undefined) return known
    const pending = new Set<ServerResponse>()
    responses.set(socket, pending)
    destroyWhenPaused(socket, timeouts.pausedMs)
    socket.once('close', () => {
      for (const response of pending) closeQueuedResponse(response)
    })
    return pending
  }

  return hasPending
}

/** Node stops reading when too many responses to requests sent ahead wait, and then does not see the client leave. */
function destroyWhenPaused(socket: Socket, timeoutMs: number): void {
  let timer: NodeJS.Timeout | undefined
  const stopTimer = () => {
    clearTimeout(timer)
    timer = undefined
  }
  socket
    .on('pause', () => {
      timer ??= setTimeout(() => socket.destroy(), timeoutMs)
    })
    .on('resume', () => {
      if (!socket.isPaused()) stopTimer()
    })
    .once('close', stopTimer)
}

/** Whether the client does not read, when nothing has moved on its connection for a while. Otherwise the response is not ready. */
function isStalled(socket: Socket): boolean {
  return socket.writableLength > 0
}
