import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ClientTimeouts } from './client-timeouts.js'

interface AnswerListener {
  /** Called when a request has arrived, before it is handled. */
  onBegin(response: ServerResponse): void
  /** Called when an answer is complete, or its connection has ended. */
  onEnd(): void
}

/** Requests of HTTP/1.1 that a client may send on a connection before it has their answers. */
const MAX_UNANSWERED_REQUESTS = 16

/**
 * Bounds the answers of HTTP/1.1 that a connection waits for. A client that sends too many requests ahead, does not read,
 * or leaves the server unable to read for too long loses its connection.
 * @returns whether a connection waits for an answer
 */
export function supervisePendingAnswers(
  server: Server,
  timeouts: Pick<ClientTimeouts, 'pausedMs'>,
  { onBegin, onEnd }: AnswerListener,
): (socket: Socket) => boolean {
  /** In the order of their requests. */
  const answers = new WeakMap<Socket, Set<ServerResponse>>()

  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    if (socket.destroyed) return
    const pending = answersOf(socket)
    if (pending.size >= MAX_UNANSWERED_REQUESTS) return void socket.destroy()
    onBegin(response)
    pending.add(response)
    response.once('close', () => {
      pending.delete(response)
      onEnd()
    })
    response.on('timeout', destroyWhenStalled)
  })

  function answersOf(socket: Socket): Set<ServerResponse> {
    const known = answers.get(socket)
    if (known !== undefined) return known
    const pending = new Set<ServerResponse>()
    answers.set(socket, pending)
    destroyWhenPaused(socket, timeouts.pausedMs)
    // Node closes the answer that has the socket. Those to requests sent ahead would never learn of the end.
    socket.once('close', () => {
      for (const response of pending) if (response.socket === null) response.destroy().emit('close')
    })
    return pending
  }

  return (socket) => (answers.get(socket)?.size ?? 0) > 0
}

/** Node stops reading when the answers to requests sent ahead pile up, and would not see the client leave. */
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

/** Nothing has moved on the connection for a while: the client does not read, or the answer takes its time. */
function destroyWhenStalled(socket: Socket): void {
  if (socket.writableLength > 0) socket.destroy()
}
