import { Code, ConnectError, createClient, type Transport } from '@connectrpc/connect'
import { findTrailerError } from '@connectrpc/connect/protocol-grpc'
import {
  Client,
  credentials,
  type GrpcObject,
  loadPackageDefinition,
  Metadata,
  type MethodDefinition,
  type ServiceClientConstructor,
  type ServiceError,
} from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { ChainStatus } from '../../../gen/aggregator/v1/chain_health_pb.js'
import { EventService, EventType, type StreamEventsResponse } from '../../../gen/aggregator/v1/event_pb.js'
import { BadRequestSchema, ErrorInfoSchema } from '../../../gen/google/rpc/error_details_pb.js'
import { deferred } from '../deferred.js'
import type { StreamMessage } from './event-messages.js'
import type { StreamEnd, StreamRequest, Wire } from './stream-clients.js'

/** A number that is not a kind of event. */
const NO_TYPE = 99

/** A message in the form of any client, with the name and the value of its `oneof`. */
function toMessage(
  kind: string | undefined,
  value: object | null | undefined,
  cursor: string,
): StreamMessage | undefined {
  if (kind === undefined || kind === 'heartbeat') return undefined
  const type = kind === 'connected' ? kind : `${kind.charAt(0).toUpperCase()}${kind.slice(1)}`
  return { type, ...value, cursor } as StreamMessage
}

function endOf(error: ConnectError): StreamEnd {
  const name = Code[error.code] ?? ''
  return {
    status: name.replace(/(?<=[a-z])[A-Z]/g, '_$&').toUpperCase(),
    text: error.rawMessage,
    reason: error.findDetails(ErrorInfoSchema)[0]?.reason,
    fields: error.findDetails(BadRequestSchema)[0]?.fieldViolations.map(({ field }) => field),
  }
}

/** StreamEvents of the .proto file, with none of this project's code. */
const streamEvents = loadMethod()

function loadMethod(): MethodDefinition<object, GrpcMessage> {
  const definition = loadSync('aggregator/v1/event.proto', {
    includeDirs: ['proto'],
    longs: Number,
    enums: String,
    defaults: true,
    oneofs: true,
  })
  const { aggregator } = loadPackageDefinition(definition)
  const { EventService: service } = (aggregator as GrpcObject).v1 as Record<string, ServiceClientConstructor>
  const method = service?.service.StreamEvents
  if (method === undefined) throw new Error('the .proto file has no StreamEvents')
  return method as MethodDefinition<object, GrpcMessage>
}

interface GrpcMessage {
  event?: string
  cursor: string
  [kind: string]: unknown
}

/** gRPC over HTTP/2, each stream on a connection of its own. Messages are protobuf. */
export const grpcWire: Wire<Buffer> = {
  connect(url, request, { timeoutMs, headers = {} }, { onMessage, onEnd }) {
    const options = { 'grpc.use_local_subchannel_pool': 1 }
    const client = new Client(new URL(url).host, credentials.createInsecure(), options)
    const metadata = new Metadata()
    for (const [name, value] of Object.entries(headers)) metadata.set(name, value)
    const { path, requestSerialize } = streamEvents
    const call = client.makeServerStreamRequest(
      path,
      requestSerialize,
      (bytes: Buffer) => bytes,
      { ...request, type: request.type?.map((name) => EVENT_TYPES.get(name) ?? NO_TYPE) },
      metadata,
      timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs },
    )
    call.on('data', onMessage)
    call.on('error', (error: ServiceError) => {
      onEnd(endOf(grpcError(error)))
      client.close()
    })
    call.on('end', () => onEnd({ status: 'OK', text: '' }))
    return {
      pause: () => void call.pause(),
      resume: () => void call.resume(),
      leave: () => call.cancel(),
    }
  },
  read(raw) {
    const { event, cursor, ...values } = streamEvents.responseDeserialize(raw)
    const { event: taken, ...fields } = (values[event ?? ''] ?? {}) as { event?: string }
    const value = withoutUnderscores(fields)
    // A removal names the removed event by the enum's name in the .proto file.
    const type = [...EVENT_TYPES.keys()].find((name) => taken === `EVENT_TYPE_${name.toUpperCase()}`)
    if (event === 'health')
      return toMessage(event, { chains: (value.chains as object[]).map(toChain) }, cursor)
    return toMessage(event, taken === undefined ? value : { ...value, event: type }, cursor)
  },
}

/** The library adds a key with an underscore for each optional field that is set. */
function withoutUnderscores(fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !name.startsWith('_')))
}

function toChain(chain: object) {
  const { status, ...others } = withoutUnderscores(chain)
  return { ...others, status: String(status).replace('CHAIN_STATUS_', '').toLowerCase() }
}

const EVENT_TYPES = new Map([
  ['Deposited', EventType.DEPOSITED],
  ['Settled', EventType.SETTLED],
  ['Refunded', EventType.REFUNDED],
  ['Reverted', EventType.REVERTED],
])

function grpcError({ code, details, metadata }: ServiceError): ConnectError {
  const trailer = new Headers({ 'grpc-status': String(code), 'grpc-message': encodeURIComponent(details) })
  const [status] = metadata.get('grpc-status-details-bin')
  if (status !== undefined) trailer.set('grpc-status-details-bin', Buffer.from(status).toString('base64'))
  return findTrailerError(trailer) ?? new ConnectError(details, code as number as Code)
}

/** Connect and gRPC-Web, by their transports. */
export function connectWire(transportTo: (url: string) => Transport): Wire<StreamEventsResponse> {
  return {
    connect(url, request, { headers = {}, timeoutMs }, { onMessage, onEnd }) {
      const leaving = new AbortController()
      let running = deferred()
      running.open()
      const call = createClient(EventService, transportTo(url)).streamEvents(toInit(request), {
        headers,
        signal: leaving.signal,
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
      })
      const readAll = async () => {
        for await (const message of call) {
          await running.opened
          onMessage(message)
        }
        onEnd({ status: 'OK', text: '' })
      }
      readAll().catch((error) => onEnd(endOf(ConnectError.from(error))))
      return {
        pause() {
          running = deferred()
        },
        resume: () => running.open(),
        leave: () => leaving.abort(),
      }
    },
    read: ({ event, cursor = '' }) => toMessage(event.case, plain(event.value), cursor),
  }
}

function toInit({ chainId = [], type = [], orderId = [], user = [], solver = [], ...rest }: StreamRequest) {
  return {
    ...rest,
    chainId: chainId.map(BigInt),
    type: type.map((name) => EVENT_TYPES.get(name) ?? (NO_TYPE as EventType)),
    orderId: [...orderId],
    user: [...user],
    solver: [...solver],
  }
}

/** The value of a generated message: integers as numbers, the enum by its name. */
function plain(value: object | undefined): Record<string, unknown> {
  const names = new Map([...EVENT_TYPES].map(([name, number]) => [number, name]))
  const entries = Object.entries(value ?? {}).map(([key, item]) => {
    if (typeof item === 'bigint') return [key, Number(item)]
    if (Array.isArray(item))
      return [key, item.map((each) => (typeof each === 'object' ? plain(each) : Number(each)))]
    if (key === 'status') return [key, ChainStatus[item]?.toLowerCase()]
    return [key, key === 'event' ? names.get(item) : item]
  })
  return Object.fromEntries(entries.filter(([key]) => key !== '$typeName'))
}
