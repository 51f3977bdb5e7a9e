import {
  createGrpcTransport,
  createConnectTransport as createNodeConnectTransport,
  createGrpcWebTransport as createNodeGrpcWebTransport,
} from '@connectrpc/connect-node'
import { createConnectTransport, createGrpcWebTransport } from '@connectrpc/connect-web'
import { connectWire } from './connect-wire.js'
import {
  openStream,
  type StreamClient,
  type StreamEnd,
  type StreamOptions,
  type StreamRequest,
  sseWire,
  type Wire,
  webSocketWire,
} from './stream-clients.js'

/** One transport of the event stream, from the side of its clients. */
export interface StreamTransport {
  readonly name: string
  /** Its label in the metrics. */
  readonly protocol: 'websocket' | 'sse' | 'grpc' | 'connect' | 'grpc-web'
  open(url: string, request?: StreamRequest, options?: StreamOptions): StreamClient
}

/**
 * `fetch` that ends its response when the signal is aborted. Connect for browsers asks for `redirect: 'error'`: with it, Node 20
 * loses an abort after a garbage collection.
 */
async function abortableFetch(input: Parameters<typeof fetch>[0], init: RequestInit = {}): Promise<Response> {
  const response = await fetch(input, init)
  const reader = response.body?.getReader()
  if (reader === undefined) return response
  init.signal?.addEventListener('abort', () => void reader.cancel(init.signal?.reason).catch(() => {}))
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read()
      init.signal?.throwIfAborted()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
  return new Response(body, { status: response.status, headers: response.headers })
}

function transport<Raw>(
  name: string,
  protocol: StreamTransport['protocol'],
  wire: Wire<Raw>,
): StreamTransport {
  return { name, protocol, open: (url, request, options) => openStream(wire, url, request, options) }
}

export const webSocket = transport('WebSocket', 'websocket', webSocketWire)
export const eventSource = transport('server-sent events', 'sse', sseWire)
export const grpc = transport(
  'gRPC',
  'grpc',
  connectWire((baseUrl) => createGrpcTransport({ baseUrl })),
)
/** On HTTP/1.1, as most proxies and browsers have it. */
export const connectJson = transport(
  'Connect in JSON',
  'connect',
  connectWire((baseUrl) =>
    createConnectTransport({ baseUrl, useBinaryFormat: false, fetch: abortableFetch }),
  ),
)
export const connectBinary = transport(
  'Connect in protobuf',
  'connect',
  connectWire((baseUrl) =>
    createNodeConnectTransport({ baseUrl, httpVersion: '1.1', useBinaryFormat: true }),
  ),
)
export const grpcWeb = transport(
  'gRPC-Web in protobuf',
  'grpc-web',
  connectWire((baseUrl) => createGrpcWebTransport({ baseUrl, useBinaryFormat: true, fetch: abortableFetch })),
)
export const grpcWebJson = transport(
  'gRPC-Web in JSON',
  'grpc-web',
  connectWire((baseUrl) =>
    createNodeGrpcWebTransport({ baseUrl, httpVersion: '1.1', useBinaryFormat: false }),
  ),
)

export const rpcTransports: readonly StreamTransport[] = [
  grpc,
  connectJson,
  connectBinary,
  grpcWeb,
  grpcWebJson,
]
export const transports: readonly StreamTransport[] = [webSocket, eventSource, ...rpcTransports]

/** One transport of each protocol. */
export const oneOfEach: readonly StreamTransport[] = [webSocket, eventSource, grpc, connectJson, grpcWeb]

/** How the service ends or rejects a stream, on each kind of transport. */
export interface ExpectedEnd {
  webSocket: number
  http: number
  rpc: string
  reason: string
  /** The bad fields. A WebSocket has room only for their names in its sentence. */
  fields?: readonly string[]
}

/** @returns what an end on this transport must have */
export function endOn(
  { protocol }: StreamTransport,
  { webSocket, http, rpc, reason, fields }: ExpectedEnd,
): Partial<StreamEnd> {
  if (protocol === 'websocket') return { status: webSocket }
  return { status: protocol === 'sse' ? http : rpc, reason, fields: fields && [...fields] }
}

/** Opens a stream on each of the transports, and waits until all are connected. */
export async function openAll(
  url: string,
  request: StreamRequest = {},
  on: readonly StreamTransport[] = transports,
): Promise<StreamClient[]> {
  const clients = on.map((transport) => transport.open(url, request))
  await Promise.all(clients.map((client) => client.connected()))
  return clients
}
