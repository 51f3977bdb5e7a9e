import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import Fastify from 'fastify'
import { REPLICA_PATH } from '../cluster/replica-client.js'
import { REPLICA_HEADERS, type ReplicaVerifier } from '../cluster/replica-signature.js'
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

/** The listener for requests from the other replicas. */
export interface ReplicaServer {
  /** The port, also when a free one was taken. */
  readonly port: number
  close(): Promise<void>
}

const MAX_BODY_BYTES = 64 * 1024
const MAX_HEADER_BYTES = 4096
const REQUEST_TIMEOUT_MS = 5000
/** How often connections are compared with the time-outs. */
const CHECK_INTERVAL_MS = 1000
/** Longer than the client keeps its connections, so that it closes them first. */
const KEEP_ALIVE_MS = 60_000
/** The other replicas open at most some hundred each. */
const MAX_CONNECTIONS = 4096

/**
 * Starts the listener (docs/decisions.md, D18). It has a port of its own, which only the other replicas should reach.
 * @throws ConfigError when the port cannot be opened
 */
export async function startReplicaServer(options: ReplicaServerOptions): Promise<ReplicaServer> {
  const { host, port, verify, answer, log } = options
  const server = Fastify({
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: true,
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_INTERVAL_MS,
    },
  })
  server.server.maxConnections = MAX_CONNECTIONS
  // The signature covers the bytes of the body.
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  )
  // A stranger needs another connection for each request. So it cannot hold all of them.
  server.addHook('onSend', async (_request, reply) => {
    if (reply.statusCode !== 200) reply.header('connection', 'close')
  })
  server.setErrorHandler((error: { statusCode?: number }, _request, reply) => {
    const { statusCode = 500 } = error
    if (statusCode >= 500) log.error({ err: error }, 'a request of another replica failed')
    return reply.code(statusCode).send({ code: statusCode >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT' })
  })
  server.post<{ Body: Buffer }>(REPLICA_PATH, async ({ headers, body }, reply) => {
    const { [REPLICA_HEADERS.time]: time, [REPLICA_HEADERS.signature]: signature } = headers
    const bytes = body ?? Buffer.alloc(0)
    const rejection = verify(String(time), String(signature), bytes)
    if (rejection !== undefined) return reply.code(401).send({ code: rejection })
    const lines = new Readable({ read() {} })
    answer(bytes.toString(), (line) => void lines.push(`${line}\n`)).then(
      () => lines.push(null),
      (error) => lines.destroy(error),
    )
    return reply.type('application/x-ndjson').send(lines)
  })
  try {
    await server.listen({ host, port })
  } catch (error) {
    throw toListenIssue(error, { host, port, variable: 'REPLICA_PORT' })
  }
  const address = server.server.address() as AddressInfo
  return { port: address.port, close: () => server.close() }
}
