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

/** One transport of the event stream, from the side of its clients. */
export interface Face {
  readonly name: string
  /** Its label in the metrics. */
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

/** One transport of each protocol. */
export const oneOfEach: readonly Face[] = [webSocket, eventSource, grpc, connectJson, grpcWeb]

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
  { protocol }: Face,
  { webSocket, http, rpc, reason, fields }: ExpectedEnd,
): Partial<StreamEnd> {
  if (protocol === 'websocket') return { status: webSocket }
  return { status: protocol === 'sse' ? http : rpc, reason, fields: fields && [...fields] }
}

/** Opens a stream on each of the transports, and waits until all are connected. */
export async function openAll(
  url: string,
  request: StreamRequest = {},
  on: readonly Face[] = faces,
): Promise<StreamClient[]> {
  const clients = on.map((face) => face.open(url, request))
  await Promise.all(clients.map((client) => client.connected()))
  return clients
}

/** Messages without their cursors, which the chain does not have. */
export function withoutCursors(messages: readonly StreamMessage[]): EventMessage[] {
  return messages.map(({ cursor: _, ...message }) => message as EventMessage)
}
