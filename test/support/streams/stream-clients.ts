import { request as httpRequest, type IncomingMessage } from 'node:http'
import { Code, ConnectError, createClient, type Transport } from '@connectrpc/connect'
import { WebSocket } from 'ws'
import { ChainStatus } from '../../../gen/aggregator/v1/chain_health_pb.js'
import { EventService, EventType, type StreamEventsResponse } from '../../../gen/aggregator/v1/event_pb.js'
import { BadRequestSchema, ErrorInfoSchema } from '../../../gen/google/rpc/error_details_pb.js'
import { deferred } from '../deferred.js'
import { type EventMessage, isEvent, type RevertedMessage, type StreamMessage } from './event-messages.js'

/** The parameters of a stream, by the names of the protocol's JSON. */
export interface StreamRequest {
  after?: string
  chainId?: readonly (number | string)[]
  type?: readonly string[]
  orderId?: readonly string[]
  user?: readonly string[]
  solver?: readonly string[]
  health?: boolean
}

export interface StreamOptions {
  headers?: Record<string, string>
  /** The client's own deadline. RPC only. */
  timeoutMs?: number
}

/** How a stream ended. */
export interface StreamEnd {
  /**
   * The close code of a WebSocket, the HTTP status of server-sent events, or the name of an RPC's code. `CUT`
   * when the response broke.
   */
  status: number | string
  /** A sentence for a person. */
  text: string
  /** One of the reasons of docs/decisions.md, D7, where the protocol has room for it. */
  reason?: string | undefined
  /** Bad fields, where the protocol has room for them. */
  fields?: string[] | undefined
}

export interface StreamListener<Raw> {
  onMessage(raw: Raw): void
  /** May be called again. The first call counts. */
  onEnd(end: StreamEnd): void
}

export interface Connection {
  /** Stops reading, so that messages fill the buffers. */
  pause(): void
  resume(): void
  /** Disconnects from the client's side. */
  leave(): void
}

/** An open event stream, with messages as received. */
export interface Wire<Raw> {
  connect(
    url: string,
    request: StreamRequest,
    options: StreamOptions,
    listener: StreamListener<Raw>,
  ): Connection
  /** @returns the message as the protocol's JSON; undefined for a heartbeat */
  read(raw: Raw): StreamMessage | undefined
}

export type StreamClient = ReturnType<typeof openStream>

/** A client that keeps all messages. */
export function openStream<Raw>(
  wire: Wire<Raw>,
  url: string,
  request: StreamRequest = {},
  options: StreamOptions = {},
) {
  const messages: StreamMessage[] = []
  const events: (EventMessage | RevertedMessage)[] = []
  let end: StreamEnd | undefined
  const lookers = new Set<() => void>()
  const notify = () => {
    for (const look of [...lookers]) look()
  }
  const connection = wire.connect(url, request, options, {
    onMessage(raw) {
      const message = wire.read(raw)
      if (message === undefined) return
      messages.push(message)
      if (isEvent(message)) events.push(message)
      notify()
    },
    onEnd(how) {
      end ??= how
      notify()
    },
  })

  function when<T>(find: () => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = find()
        if (found === undefined && end === undefined) return
        lookers.delete(look)
        if (found !== undefined) resolve(found)
        else reject(new Error(`ended after ${messages.length} messages: ${JSON.stringify(end)}`))
      }
      lookers.add(look)
      look()
    })
  }
  const cursor = () => messages.at(-1)?.cursor ?? ''

  return {
    ...connection,
    messages,
    /** All messages but `connected` and `Health`. */
    events: () => [...events],
    /** The cursor of the last message. Empty before the first one. */
    cursor,
    /** Resolves with the stream's end. */
    ended: () => when(() => end),
    /** Resolves with the first message's cursor. Rejects when the stream ends before. */
    connected: () => when(() => messages[0]?.cursor),
    /** Resolves with this many messages after `connected`. Rejects when the stream ends before. */
    take: (count: number) => when(() => (events.length >= count ? [...events] : undefined)),
    /** Resolves when there is a message like that. Rejects when the stream ends before. */
    until: (isWanted: (message: StreamMessage) => boolean) => when(() => messages.find(isWanted)),
  }
}

function queryOf(request: StreamRequest): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(request)) {
    for (const item of [value].flat()) query.append(name, String(item))
  }
  return query.size === 0 ? '' : `?${query}`
}

export const webSocketWire: Wire<Buffer> = {
  connect(url, request, { headers }, { onMessage, onEnd }) {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/ws${queryOf(request)}`, { headers })
    socket.on('message', (data) => onMessage(data as Buffer))
    socket.on('close', (status, reason) => onEnd({ status, text: reason.toString() }))
    socket.on('unexpected-response', (_request, response) => void refusal(response).then(onEnd))
    // The close code has the error.
    socket.on('error', () => {})
    return {
      pause: () => socket.pause(),
      resume: () => socket.resume(),
      leave() {
        socket.resume()
        socket.close()
      },
    }
  },
  read: (raw) => JSON.parse(raw.toString()),
}

const DATA = 'data: '
const ID = 'id: '

/** Each message is a block of lines. */
export const sseWire: Wire<string> = {
  connect(url, request, { headers }, { onMessage, onEnd }) {
    const call = httpRequest(`${url}/v1/events${queryOf(request)}`, { agent: false, headers }).end()
    let response: IncomingMessage | undefined
    let isPaused = false
    const cut = () => onEnd({ status: 'CUT', text: '' })
    call.on('error', cut)
    call.on('response', (incoming) => {
      response = incoming
      if (response.headers['content-type'] !== 'text/event-stream') return refusal(response).then(onEnd)
      let rest = ''
      response.setEncoding('utf8').on('data', (text: string) => {
        const blocks = (rest + text).split('\n\n')
        rest = blocks.pop() ?? ''
        for (const block of blocks) onMessage(block)
      })
      response.on('end', () => onEnd({ status: incoming.statusCode ?? 0, text: rest }))
      response.on('error', cut)
      response.on('close', cut)
      if (isPaused) response.pause()
    })
    return {
      pause() {
        isPaused = true
        response?.pause()
      },
      resume() {
        isPaused = false
        response?.resume()
      },
      leave: () => call.destroy(),
    }
  },
  /** @throws Error when the id is not the cursor */
  read(block) {
    const lines = block.split('\n')
    const data = lines.filter((line) => line.startsWith(DATA)).map((line) => line.slice(DATA.length))
    const id = lines.findLast((line) => line.startsWith(ID))?.slice(ID.length)
    if (data.length === 0) return undefined
    const message: StreamMessage = JSON.parse(data.join('\n'))
    if (id !== message.cursor) throw new Error(`the id ${id} is not the cursor: ${block}`)
    return message
  },
}

async function refusal(response: IncomingMessage): Promise<StreamEnd> {
  const text = (await response.setEncoding('utf8').toArray()).join('')
  const { error, code, details } = JSON.parse(text) as {
    error: string
    code: string
    details?: { field: string }[]
  }
  return {
    status: response.statusCode ?? 0,
    text: error,
    reason: code,
    fields: details?.map(({ field }) => field),
  }
}

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
