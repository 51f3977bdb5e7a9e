import {
  createConnectTransport as createNodeConnectTransport,
  createGrpcWebTransport as createNodeGrpcWebTransport,
} from '@connectrpc/connect-node'
import { createConnectTransport, createGrpcWebTransport } from '@connectrpc/connect-web'
import type { EventMessage, StreamMessage } from './event-messages.js'
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
import { connectWire, grpcWire } from './stream-rpc-clients.js'

/** One of the faces of the event stream, as clients of its kind see it. */
export interface Face {
  readonly name: string
  /** The label of its metrics. */
  readonly protocol: 'websocket' | 'sse' | 'grpc' | 'connect' | 'grpc-web'
  open(url: string, request?: StreamRequest, options?: StreamOptions): StreamClient
}

function face<Raw>(name: string, protocol: Face['protocol'], wire: Wire<Raw>): Face {
  return { name, protocol, open: (url, request, options) => openStream(wire, url, request, options) }
}

export const webSocket = face('WebSocket', 'websocket', webSocketWire)
export const eventSource = face('server-sent events', 'sse', sseWire)
export const grpc = face('gRPC', 'grpc', grpcWire)
/** On HTTP/1.1, as most proxies and browsers have it. */
export const connectJson = face(
  'Connect in JSON',
  'connect',
  connectWire((baseUrl) => createConnectTransport({ baseUrl, useBinaryFormat: false })),
)
export const connectBinary = face(
  'Connect in protobuf',
  'connect',
  connectWire((baseUrl) =>
    createNodeConnectTransport({ baseUrl, httpVersion: '1.1', useBinaryFormat: true }),
  ),
)
export const grpcWeb = face(
  'gRPC-Web in protobuf',
  'grpc-web',
  connectWire((baseUrl) => createGrpcWebTransport({ baseUrl, useBinaryFormat: true })),
)
export const grpcWebJson = face(
  'gRPC-Web in JSON',
  'grpc-web',
  connectWire((baseUrl) =>
    createNodeGrpcWebTransport({ baseUrl, httpVersion: '1.1', useBinaryFormat: false }),
  ),
)

export const rpcFaces: readonly Face[] = [grpc, connectJson, connectBinary, grpcWeb, grpcWebJson]
export const faces: readonly Face[] = [webSocket, eventSource, ...rpcFaces]

/** One face of each protocol. */
export const oneOfEach: readonly Face[] = [webSocket, eventSource, grpc, connectJson, grpcWeb]

/** How the service ends a stream, or refuses one, on each kind of face. */
export interface ExpectedEnd {
  webSocket: number
  http: number
  rpc: string
  reason: string
  /** The bad fields. A WebSocket has no room for more than their names in its sentence. */
  fields?: readonly string[]
}

/** @returns what of an end must be there on a face */
export function endOn(
  { protocol }: Face,
  { webSocket, http, rpc, reason, fields }: ExpectedEnd,
): Partial<StreamEnd> {
  if (protocol === 'websocket') return { status: webSocket }
  return { status: protocol === 'sse' ? http : rpc, reason, fields: fields && [...fields] }
}

/** Opens a stream on each of the faces, and waits until all are connected. */
export async function openAll(
  url: string,
  request: StreamRequest = {},
  on: readonly Face[] = faces,
): Promise<StreamClient[]> {
  const clients = on.map((face) => face.open(url, request))
  await Promise.all(clients.map((client) => client.connected()))
  return clients
}

/** Messages as the chain tells them, which knows no cursors. */
export function withoutCursors(messages: readonly StreamMessage[]): EventMessage[] {
  return messages.map(({ cursor: _, ...message }) => message as EventMessage)
}
