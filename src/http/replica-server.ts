import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import {
  REPLICA_HEADERS,
  type ReplicaRejection,
  type ReplicaVerifier,
  toConnectText,
} from '../cluster/replica-signature.js'
import {
  type AnswerMessage,
  REPLICA_PATH,
  readRequestMessage,
  readSignedText,
  toAnswerMessage,
} from '../cluster/replica-wire.js'
import type { AnswerReplica } from '../sessions/relayed-requests.js'
import type { Logger } from '../telemetry/log.js'
import { toListenIssue } from './listen-issue.js'

interface ReplicaServerOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  readonly verify: ReplicaVerifier
  readonly answer: AnswerReplica
  readonly log: Logger
}

/** The listener for the other replicas. */
export interface ReplicaServer {
  /** The port, also when a free one was taken. */
  readonly port: number
  close(): Promise<void>
}

const MAX_MESSAGE_BYTES = 64 * 1024
const MAX_HEADER_BYTES = 4096
const HANDSHAKE_TIMEOUT_MS = 5000
/** How often connections are compared with the time-out. */
const CHECK_INTERVAL_MS = 1000
/** Longer than the client keeps its connections, so that it closes them first. */
const IDLE_MS = 60_000
/** A replica that leaves more answers unread, and has read none for `STALLED_MS`, has stopped. A burst of requests has more. */
const MAX_UNSENT_BYTES = 16 * 1024 * 1024
const STALLED_MS = 1000
/** The other replicas open two each. */
const MAX_CONNECTIONS = 4096
const POLICY_VIOLATION = 1008

/**
 * Starts the listener (docs/decisions.md, D18). It has a port of its own, which only the other replicas should reach.
 * @throws ConfigError when the port cannot be opened
 */
export async function startReplicaServer(options: ReplicaServerOptions): Promise<ReplicaServer> {
  const { host, port, verify, answer, log } = options
  const limits = {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HANDSHAKE_TIMEOUT_MS,
    requestTimeout: HANDSHAKE_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
  }
  const server = createServer(limits, refuse)
  // Without this, Node answers 417 to other expectations than `100-continue`, and keeps the connection.
  server.on('checkExpectation', refuse)
  server.maxConnections = MAX_CONNECTIONS
  const sockets = new WebSocketServer({
    server,
    path: REPLICA_PATH,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    // Replicas send no pings. Their answers would wait without a bound for one who does not read them.
    autoPong: false,
    verifyClient({ req }, done) {
      const code = rejectionOf(verify, req.headers)
      done(code === undefined, 401, JSON.stringify({ code }), { 'content-type': 'application/json' })
    },
  })
  sockets.on('connection', (socket) => serve(socket, { verify, answer, log }))
  // The server below reports the error.
  sockets.on('error', () => {})
  try {
    await once(server.listen(port, host), 'listening')
  } catch (error) {
    throw toListenIssue(error, { host, port, variable: 'REPLICA_PORT' })
  }
  const address = server.address() as AddressInfo
  return {
    port: address.port,
    async close() {
      const closed = once(server, 'close')
      sockets.close()
      for (const socket of sockets.clients) socket.terminate()
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** A stranger needs another connection for each request. So it cannot hold all of them. */
function refuse(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(426, { upgrade: 'websocket', connection: 'close' }).end()
}

function rejectionOf(verify: ReplicaVerifier, headers: IncomingHttpHeaders): ReplicaRejection | undefined {
  const { time, signature, connection } = REPLICA_HEADERS
  return verify(String(headers[time]), String(headers[signature]), toConnectText(String(headers[connection])))
}

/** Answers the requests of one connection. Each is signed: who reads the connection must not write to it. */
function serve(
  socket: WebSocket,
  { verify, answer, log }: Pick<ReplicaServerOptions, 'verify' | 'answer' | 'log'>,
): void {
  let underWay = 0
  /** When an answer last left the process, or began to wait. */
  let writtenAt = 0
  const idle = setTimeout(() => {
    if (underWay > 0) idle.refresh()
    else socket.terminate()
  }, IDLE_MS).unref()

  function noteWritten(): void {
    writtenAt = performance.now()
  }

  function send(message: AnswerMessage): void {
    if (socket.readyState !== socket.OPEN) return
    if (socket.bufferedAmount === 0) noteWritten()
    socket.send(toAnswerMessage(message), noteWritten)
    const isStalled = performance.now() - writtenAt > STALLED_MS
    if (isStalled && socket.bufferedAmount > MAX_UNSENT_BYTES) socket.terminate()
  }

  async function answerRequest(signed: Buffer): Promise<void> {
    const { number, body } = readSignedText(signed)
    underWay++
    try {
      await answer(body, (line) => send({ number, kind: 'line', line }))
      send({ number, kind: 'end', line: '' })
    } catch (error) {
      log.error({ err: error }, 'a request of another replica failed')
      send({ number, kind: 'failed', line: '' })
    } finally {
      underWay--
    }
  }

  socket
    .on('message', (data: Buffer) => {
      idle.refresh()
      const { time, signature, signed } = readRequestMessage(data)
      const rejection = verify(time, signature, signed)
      if (rejection === undefined) void answerRequest(signed)
      else socket.close(POLICY_VIOLATION, rejection)
    })
    // The event `close` follows.
    .on('error', () => {})
    .once('close', () => clearTimeout(idle))
}
