import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { InstanceContext } from '../cluster/instance.js'
import {
  createReplicaVerifier,
  REPLICA_HEADERS,
  REPLICA_PATH,
  type ReplicaVerifier,
} from '../cluster/replica-signature.js'
import { toListenIssue } from '../config/environment.js'
import { type AnswerReplica, createRelayedRequests } from '../sessions/relayed-requests.js'
import type { Sessions } from '../sessions/sessions.js'
import type { Logger } from '../telemetry/log.js'

interface ReplicaServerOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  readonly verify: ReplicaVerifier
  readonly answer: AnswerReplica
  readonly log: Logger
}

const MAX_RELAYED_BYTES = 64 * 1024
const LIMITS = {
  maxHeaderSize: 4096,
  headersTimeout: 5000,
  requestTimeout: 5000,
  /** How often connections are compared with these times. */
  connectionsCheckingInterval: 1000,
  /** The answers say it, so that the client closes an idle connection first. */
  keepAliveTimeout: 30_000,
}
/** Each request of another replica has one while it waits for its solvers. */
const MAX_CONNECTIONS = 4096

/**
 * Starts the listener for the other replicas (docs/decisions.md, D18). It has a port of its own, which only they should reach.
 * @throws ConfigError when the port cannot be opened
 */
export async function startReplicaServer(options: ReplicaServerOptions) {
  const { host, port } = options
  const server = createServer(LIMITS, (request, response) => void serve(request, response, options))
  // Without this, Node keeps the connection.
  server.on('checkExpectation', (_request, response) => refuse(response, 417))
  server.maxConnections = MAX_CONNECTIONS
  try {
    await once(server.listen(port, host), 'listening')
  } catch (error) {
    throw toListenIssue(error, { host, port, variable: 'REPLICA_PORT' })
  }
  const address = server.address() as AddressInfo
  return {
    /** The port, also when a free one was taken. */
    port: address.port,
    async close(): Promise<void> {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { verify, answer, log }: ReplicaServerOptions,
): Promise<void> {
  const { method, url, headers } = request
  if (method !== 'POST' || url !== REPLICA_PATH) return refuse(response, 404)
  if (!(Number(headers['content-length']) <= MAX_RELAYED_BYTES)) return refuse(response, 413)
  // A connection that ends within the body takes no answer.
  const body = await buffer(request).catch(() => undefined)
  if (body === undefined) return
  const { time, signature } = REPLICA_HEADERS
  const code = verify(String(headers[time]), String(headers[signature]), body)
  if (code !== undefined) return refuse(response, 401, JSON.stringify({ code }))
  // A proxy must pass each line on when it comes.
  response.setHeader('x-accel-buffering', 'no')
  try {
    await answer(body.toString(), (line) => response.write(`${line}\n`))
    response.end()
  } catch (error) {
    log.error({ err: error }, 'a request of another replica failed')
    response.destroy()
  }
}

/** A stranger needs another connection for each request. So it cannot hold all of them. */
function refuse(response: ServerResponse, status: number, body = ''): void {
  response.writeHead(status, { connection: 'close' }).end(body)
}

/**
 * Listens for requests of the other replicas, and makes known where (docs/decisions.md, D18). Does nothing without
 * REPLICA_URL.
 * @returns a function that ends the listener
 * @throws ConfigError when the port cannot be opened
 */
export async function startReplicaListener(
  { config, instance, clock, log }: InstanceContext,
  sessions: Sessions,
): Promise<() => Promise<void>> {
  const { replica } = instance
  const { replicaAccess: access } = config
  if (replica === undefined || access === undefined) return async () => {}
  const server = await startReplicaServer({
    host: config.host,
    port: access.port,
    verify: createReplicaVerifier(replica.id, replica.key, clock.now),
    answer: createRelayedRequests(sessions, clock),
    log,
  })
  const url = new URL(access.url)
  if (access.port === 0) url.port = String(server.port)
  try {
    await replica.publishUrl(url.origin)
  } catch (error) {
    await server.close()
    throw error
  }
  log.info(
    { replicaId: replica.id, replicaUrl: url.origin },
    'other replicas ask the solver sessions of this one',
  )
  return server.close
}
