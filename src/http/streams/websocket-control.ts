import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { WebSocket, WebSocketServer } from 'ws'
import { MAX_MESSAGE_BYTES } from '../../sessions/messages.js'

/** The path of the WebSockets of solvers, the only clients that have a reason to send messages. */
export const SESSION_PATH = '/v1/solvers/session'

/** The service ignores messages of clients; a longer one than this closes the socket. */
export const MAX_CLIENT_MESSAGE_BYTES = 4096

/** Complete messages and control frames that a client may send in a second. Clients need only pings and pongs. */
const MAX_FRAMES_PER_SECOND = 50
const SECOND_MS = 1000
/** Bytes before the payload of a frame (RFC 6455, section 5.2). */
const MAX_HEADER_BYTES = 14
/**
 * Bytes that a client may send in a second: two messages, with the headers of all frames. The limit above leaves out
 * unfinished messages.
 */
const MAX_BYTES_PER_SECOND = 2 * MAX_CLIENT_MESSAGE_BYTES + MAX_FRAMES_PER_SECOND * MAX_HEADER_BYTES
/**
 * Beyond the messages that it completes, a solver may send so many of the longest ones in a second. ws does not count fragments
 * without content, and each takes as long as a message.
 */
const MAX_UNFINISHED_MESSAGES = 2

/** What a client has sent recently. It is created with the client's first frame, as most clients send none. */
interface Incoming {
  frames: number
  secondEndsAt: number
}

/** What a client has sent since the last look. */
interface Received {
  readonly socket: Socket
  bytesRead: number
  messages: number
}

/**
 * Bounds the cost of WebSocket clients. The server closes a client that sends too many frames or bytes, or that does not answer
 * the server's last ping. The ping's bytes are random, so that only a client that reads can repeat them. Of solvers, it bounds control
 * frames and the bytes of unfinished messages: their route bounds their messages, and sends its own pings.
 * @returns a function that stops the server's pings
 */
export function superviseWebSockets(server: WebSocketServer, pingIntervalMs: number): () => void {
  const ofUsers = new Map<WebSocket, Received>()
  const ofSolvers = new Map<WebSocket, Received>()
  const incoming = new WeakMap<WebSocket, Incoming>()
  const silent = new WeakSet<WebSocket>()
  let payload = randomBytes(8)

  function count(client: WebSocket): void {
    const now = performance.now()
    const state = incoming.get(client) ?? { frames: 0, secondEndsAt: 0 }
    incoming.set(client, state)
    if (now >= state.secondEndsAt) {
      state.frames = 0
      state.secondEndsAt = now + SECOND_MS
    }
    if (++state.frames > MAX_FRAMES_PER_SECOND) client.terminate()
  }

  function onPong(this: WebSocket, data: Buffer): void {
    count(this)
    if (data.equals(payload)) silent.delete(this)
  }

  function onFrame(this: WebSocket): void {
    count(this)
  }

  const timer = setInterval(() => {
    payload = randomBytes(8)
    for (const client of ofUsers.keys()) {
      if (silent.has(client)) client.terminate()
      else if (client.readyState === client.OPEN) {
        silent.add(client)
        client.ping(payload)
      }
    }
  }, pingIntervalMs)
  let checkedAt = performance.now()
  const byteTimer = setInterval(() => {
    const now = performance.now()
    const most = (MAX_BYTES_PER_SECOND * Math.max(SECOND_MS, now - checkedAt)) / SECOND_MS
    checkedAt = now
    for (const [client, received] of ofUsers) cutAbove(most, client, received)
    for (const [client, received] of ofSolvers)
      cutAbove((received.messages + MAX_UNFINISHED_MESSAGES) * MAX_MESSAGE_BYTES, client, received)
  }, SECOND_MS)
  server.on('connection', (client, request) => {
    client.on('ping', onFrame).on('pong', onPong)
    const { socket } = request
    const received: Received = { socket, bytesRead: socket.bytesRead, messages: 0 }
    const group = pathOf(request) === SESSION_PATH ? ofSolvers : ofUsers
    group.set(client, received)
    client.once('close', () => group.delete(client))
    if (group === ofUsers) client.on('message', onFrame)
    else client.on('message', () => received.messages++)
  })
  return () => {
    clearInterval(timer)
    clearInterval(byteTimer)
  }
}

const pathOf = ({ url = '' }: IncomingMessage) => url.split('?', 1)[0] ?? ''

/** Cuts off a client that has sent more bytes than these since the last call. */
function cutAbove(most: number, client: WebSocket, received: Received): void {
  const { bytesRead } = received.socket
  if (bytesRead - received.bytesRead > most && client.readyState === client.OPEN) client.terminate()
  received.bytesRead = bytesRead
  received.messages = 0
}
