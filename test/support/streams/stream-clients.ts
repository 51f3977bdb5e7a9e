import { request as httpRequest, type IncomingMessage } from 'node:http'
import { WebSocket } from 'ws'
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
