import { Code, ConnectError, createClient, type Transport } from '@connectrpc/connect'
import { ChainStatus } from '../../../gen/aggregator/v1/chain_health_pb.js'
import { EventService, EventType, type StreamEventsResponse } from '../../../gen/aggregator/v1/event_pb.js'
import { BadRequestSchema, ErrorInfoSchema } from '../../../gen/google/rpc/error_details_pb.js'
import { deferred } from '../deferred.js'
import type { StreamMessage } from './event-messages.js'
import type { StreamEnd, StreamRequest, Wire } from './stream-clients.js'

/** A number that is not a kind of event. */
const NO_TYPE = 99
const EVENT_TYPES = new Map([
  ['Deposited', EventType.DEPOSITED],
  ['Settled', EventType.SETTLED],
  ['Refunded', EventType.REFUNDED],
  ['Reverted', EventType.REVERTED],
])

/** gRPC, Connect and gRPC-Web, by their transports. */
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
