import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { request as fetchText } from 'undici'
import { WebSocket, WebSocketServer } from 'ws'
import { createRandom } from '../random.js'
import { answerFromOldHead, type RpcCaller, type RpcReply, type RpcRequest, rangeOf } from './chain-view.js'

/** The faults. Probabilities go from 0 to 1. A fault that is omitted or 0 never happens. */
export interface Faults {
  /** For an HTTP request or a WebSocket's handshake: 503. */
  unavailable?: number
  /** For an HTTP request or a WebSocket's message: the connection is closed instead of an answer. */
  disconnect?: number
  /** For an HTTP request or a WebSocket's message: it is never answered. */
  hang?: number
  /** For a call: a JSON-RPC error instead of an answer. */
  error?: number
  /** For a call: the answer is that of a node without the last `lag` blocks. */
  stale?: number
  /** Default 1. */
  lag?: number
  /** `eth_getLogs` over more blocks is always rejected. */
  maxRange?: number
  /** For a notification about a new head: it is dropped. */
  swallowHead?: number
  /** For a notification of any kind: all WebSocket connections are closed instead. */
  dropWebSockets?: number
}

/**
 * The count of each fault. Answers from an old head count when they differ from the real ones. Each dropped
 * WebSocket counts.
 */
export type FaultCounts = Record<
  | 'unavailable'
  | 'disconnected'
  | 'hung'
  | 'errors'
  | 'stale'
  | 'rangesRefused'
  | 'headsSwallowed'
  | 'webSocketsDropped',
  number
>

export type ChaosProxy = Awaited<ReturnType<typeof startChaosProxy>>

type RpcError = NonNullable<RpcReply['error']>

const RANGE_ERRORS: readonly [RpcError, ...RpcError[]] = [
  { code: -32005, message: 'query returned more than 10000 results' },
  { code: -32000, message: 'block range is too wide' },
]
const CALL_ERRORS: readonly [RpcError, ...RpcError[]] = [
  { code: -32000, message: 'header not found' },
  { code: -32603, message: 'internal error' },
]

/** The faults of one call, drawn before anything is awaited: other calls do not change them. */
interface Fate {
  isStale: boolean
  lag: number
  error: RpcError | undefined
  rangeError: RpcError | undefined
}

/**
 * An endpoint for JSON-RPC over HTTP and WebSocket on one port. It passes everything on to the chain until it
 * gets faults.
 * @param seed of the random faults, 32 bits
 */
export async function startChaosProxy(rpcUrl: string, { seed = 1, faults: initial = {} as Faults } = {}) {
  const random = createRandom(seed)
  const clients = new Set<WebSocket>()
  const counts: FaultCounts = {
    unavailable: 0,
    disconnected: 0,
    hung: 0,
    errors: 0,
    stale: 0,
    rangesRefused: 0,
    headsSwallowed: 0,
    webSocketsDropped: 0,
  }
  let faults = initial

  /** Draws only for faults that can happen. */
  const chance = (probability = 0): boolean =>
    probability > 0 && random.integer(1, 1_000_000) <= probability * 1_000_000

  function befalls(probability: number | undefined, count: keyof FaultCounts): boolean {
    const happens = chance(probability)
    if (happens) counts[count]++
    return happens
  }

  async function forward(body: string): Promise<string> {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetchText(rpcUrl, { method: 'POST', headers, body })
    return answer.body.text()
  }

  const ask: RpcCaller = async (method, params) => {
    const text = await forward(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
    const { result, error } = JSON.parse(text)
    return error === undefined ? { result } : { error }
  }

  function drawFate(): Fate {
    return {
      isStale: chance(faults.stale),
      lag: faults.lag ?? 1,
      error: befalls(faults.error, 'errors') ? random.pick(CALL_ERRORS) : undefined,
      rangeError: faults.maxRange === undefined ? undefined : random.pick(RANGE_ERRORS),
    }
  }

  async function replyTo(request: RpcRequest, fate: Fate): Promise<object> {
    const { error, isStale, rangeError } = fate
    const maxRange = faults.maxRange ?? Number.POSITIVE_INFINITY
    const base = { jsonrpc: '2.0', id: request.id ?? null }
    if (error !== undefined) return { ...base, error }
    if (rangeError !== undefined && request.method === 'eth_getLogs') {
      if ((await rangeOf(ask, request.params?.[0] ?? {})) > maxRange) {
        counts.rangesRefused++
        return { ...base, error: rangeError }
      }
    }
    const honest = await ask(request.method, request.params ?? [])
    if (!isStale) return { ...base, ...honest }
    const old = await answerFromOldHead(ask, request, fate.lag)
    if (JSON.stringify(old) !== JSON.stringify(honest)) counts.stale++
    return { ...base, ...old }
  }

  const touchesCalls = () => Boolean(faults.error || faults.stale || faults.maxRange !== undefined)

  async function answer(body: string): Promise<string> {
    if (!touchesCalls()) return forward(body)
    const parsed: RpcRequest | RpcRequest[] = JSON.parse(body)
    if (!Array.isArray(parsed)) return JSON.stringify(await replyTo(parsed, drawFate()))
    const fates = parsed.map(drawFate)
    const replies = parsed.map((request, index) => replyTo(request, fates[index] ?? drawFate()))
    return JSON.stringify(await Promise.all(replies))
  }

  async function onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    if (befalls(faults.unavailable, 'unavailable')) return void response.writeHead(503).end()
    if (befalls(faults.disconnect, 'disconnected')) return void request.socket.destroy()
    if (befalls(faults.hang, 'hung')) return
    const text = await answer(Buffer.concat(chunks).toString())
    response.setHeader('content-type', 'application/json').end(text)
  }

  const server = createServer((request, response) => {
    // The chain or the client is gone: there is no answer to send.
    onRequest(request, response).catch(() => request.socket.destroy())
  })
  const webSockets = new WebSocketServer({ noServer: true })
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy())
    if (befalls(faults.unavailable, 'unavailable')) return void refuse(socket)
    webSockets.handleUpgrade(request, socket, head, connect)
  })

  function connect(client: WebSocket): void {
    const upstream = new WebSocket(rpcUrl.replace('http', 'ws'))
    const isOpen = once(upstream, 'open').catch(() => client.terminate())
    const end = () => {
      clients.delete(client)
      client.terminate()
      upstream.terminate()
    }
    clients.add(client)
    for (const side of [client, upstream]) side.on('close', end).on('error', end)
    client.on('message', (data) => onMessage(client, upstream, isOpen, data.toString()).catch(end))
    upstream.on('message', (data) => onNotification(client, data.toString()))
  }

  async function onMessage(
    client: WebSocket,
    upstream: WebSocket,
    isOpen: Promise<unknown>,
    text: string,
  ): Promise<void> {
    if (befalls(faults.disconnect, 'disconnected')) return client.terminate()
    if (befalls(faults.hang, 'hung')) return
    const isOfSubscription = /"eth_(un)?subscribe"/.test(text)
    if (!isOfSubscription && touchesCalls()) return client.send(await answer(text))
    await isOpen
    upstream.send(text)
  }

  function onNotification(client: WebSocket, text: string): void {
    const subscription = JSON.parse(text).params
    if (subscription !== undefined) {
      const isHead = subscription.result?.parentHash !== undefined
      if (isHead && befalls(faults.swallowHead, 'headsSwallowed')) return
      if (chance(faults.dropWebSockets)) dropWebSockets()
    }
    client.send(text)
  }

  function dropWebSockets(): void {
    counts.webSocketsDropped += clients.size
    for (const client of clients) client.terminate()
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    url: `http://${address}`,
    wsUrl: `ws://${address}`,
    /** The count of each fault so far. */
    counts: counts as Readonly<FaultCounts>,
    /** Sets these faults, and keeps the others. */
    set(changes: Faults) {
      faults = { ...faults, ...changes }
    },
    /** Ends all faults. Requests that hang stay open. */
    calm() {
      faults = {}
    },
    /** Closes all open WebSocket connections. */
    dropWebSockets,
    /** The number of open WebSocket connections. */
    webSocketCount: () => clients.size,
    async close(): Promise<void> {
      for (const client of clients) client.terminate()
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

function refuse(socket: Duplex): void {
  socket.end(`HTTP/1.1 503 ${STATUS_CODES[503]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}
