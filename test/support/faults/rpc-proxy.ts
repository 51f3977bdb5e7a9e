import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { request as fetchText } from 'undici'
import { WebSocket, WebSocketServer } from 'ws'
import { deferred } from '../deferred.js'
import { listen } from '../listen.js'

/** A JSON-RPC request as received. */
export interface RpcRequest {
  id?: number | string | null
  method: string
  params?: unknown[]
}

/** A JSON-RPC answer, without its id. */
interface RpcReply {
  result?: unknown
  error?: { code: number; message: string }
}

/** Calls the chain itself. */
type RpcCaller = (method: string, params: unknown[]) => Promise<RpcReply>

export type RpcProxy = Awaited<ReturnType<typeof startRpcProxy>>

/** Answers a call instead of the chain. `pass` calls the chain itself. */
export type Interceptor = (
  call: RpcRequest,
  pass: () => Promise<RpcReply>,
  ask: RpcCaller,
) => Promise<RpcReply>

/** `orders(bytes32)` of the settlement contract. */
const ORDERS = '0x9c3f1e90'

/**
 * A proxy of a chain's RPC endpoint that counts calls. A test can take it down, or make it give wrong
 * answers.
 */
export async function startRpcProxy(rpcUrl: string) {
  const sockets = new Set<WebSocket>()
  let requests: RpcRequest[][] = []
  let isUp = true
  let hangs = false
  let swallowsHeads = false
  let pushedHeads = 0
  let intercept: Interceptor | undefined

  async function post(body: string): Promise<string> {
    const headers = { 'content-type': 'application/json' }
    return (await fetchText(rpcUrl, { method: 'POST', headers, body })).body.text()
  }

  const ask: RpcCaller = async (method, params) => {
    const text = await post(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
    const { result, error } = JSON.parse(text)
    return error === undefined ? { result } : { error }
  }

  async function replyTo(call: RpcRequest): Promise<object> {
    const pass = () => ask(call.method, call.params ?? [])
    const reply = intercept === undefined ? pass() : intercept(call, pass, ask)
    return { jsonrpc: '2.0', id: call.id ?? null, ...(await reply) }
  }

  async function answer(body: string): Promise<string> {
    const parsed: RpcRequest | RpcRequest[] = JSON.parse(body)
    requests.push([parsed].flat())
    if (intercept === undefined) return post(body)
    const replies = await Promise.all([parsed].flat().map(replyTo))
    return JSON.stringify(Array.isArray(parsed) ? replies : replies[0])
  }

  async function onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    if (hangs) return
    if (!isUp) {
      requests.push([JSON.parse(body)].flat())
      return void response.writeHead(503).end()
    }
    const text = await answer(body)
    response.setHeader('content-type', 'application/json').end(text)
  }

  const server = createServer((request, response) => {
    // The chain or the client is gone: there is no answer to send.
    onRequest(request, response).catch(() => request.socket.destroy())
  })
  const webSockets = new WebSocketServer({ noServer: true })
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy())
    if (hangs) return
    if (isUp) webSockets.handleUpgrade(request, socket, head, connect)
    else socket.destroy()
  })

  /** Subscriptions and their notifications are passed on. Other calls are answered as over HTTP. */
  function connect(client: WebSocket): void {
    const upstream = new WebSocket(rpcUrl.replace('http', 'ws'))
    const isOpen = once(upstream, 'open').catch(() => client.terminate())
    const end = () => {
      sockets.delete(client)
      client.terminate()
      upstream.terminate()
    }
    sockets.add(client)
    for (const side of [client, upstream]) side.on('close', end).on('error', end)
    upstream.on('message', (data) => {
      const text = data.toString()
      const isHead = text.includes('"eth_subscription"')
      if (hangs || (swallowsHeads && isHead)) return
      client.send(text)
      if (isHead) pushedHeads++
    })
    client.on('message', async (data) => {
      if (hangs) return
      const text = data.toString()
      if (!/"eth_(un)?subscribe"/.test(text)) return answer(text).then((reply) => client.send(reply), end)
      requests.push([JSON.parse(text)])
      await isOpen
      upstream.send(text)
    })
  }

  const { port } = await listen(server)
  const address = `127.0.0.1:${port}`

  return {
    url: `http://${address}`,
    wsUrl: `ws://${address}`,
    /** Answers only 503 while it is not up, and accepts no WebSockets. */
    setUp(up: boolean) {
      isUp = up
      if (!up) this.dropSockets()
    },
    /** Accepts connections and answers nothing. What came meanwhile is never answered. */
    setHanging(hanging: boolean) {
      hangs = hanging
    },
    /** Keeps WebSockets open without notifications of new heads. */
    swallowHeads(swallows: boolean) {
      swallowsHeads = swallows
    },
    dropSockets() {
      for (const socket of sockets) socket.terminate()
    },
    /** The number of new heads that clients were sent. */
    pushedHeads: async () => pushedHeads,
    /** Lets an interceptor answer from now on, or the chain itself when left out. */
    intercept(interceptor?: Interceptor) {
      intercept = interceptor
    },
    hideLogs() {
      intercept = async ({ method }, pass) => (method === 'eth_getLogs' ? { result: [] } : pass())
    },
    /** Lets calls of a contract's function revert, as if the contract did not have it. */
    revert(selector: string) {
      const reverted = { error: { code: 3, message: 'execution reverted', data: '0x' } }
      intercept = async (call, pass) => (dataOf(call)?.startsWith(selector) ? reverted : pass())
    },
    /**
     * Calls the chain as before, and holds the answers to some calls.
     * @returns `reached` resolves at the first held answer; `release` sends it and all later ones
     */
    hold(isHeld: (call: RpcRequest) => boolean) {
      const [reached, released] = [deferred(), deferred()]
      intercept = async (call, pass) => {
        const reply = await pass()
        if (!isHeld(call)) return reply
        reached.open()
        await released.opened
        return reply
      }
      return { reached: reached.opened, release: released.open }
    },
    /** Forgets the calls so far. */
    forgetCalls() {
      requests = []
    },
    /** The calls by HTTP request or WebSocket message. */
    requests: (): readonly (readonly RpcRequest[])[] => requests,
    count: (method: string) => requests.flat().filter((call) => call.method === method).length,
    /** The number of HTTP requests that read an order, by the order's id. */
    orderReads: (): string[][] =>
      requests.map((calls) => calls.flatMap((call) => orderIdOf(call) ?? [])).filter((ids) => ids.length > 0),
    close() {
      for (const socket of sockets) socket.terminate()
      server.close()
      server.closeAllConnections()
    },
  }
}

/** The order that a call reads, if any. */
export function orderIdOf(call: RpcRequest): string | undefined {
  const data = dataOf(call)
  return data?.startsWith(ORDERS) ? `0x${data.slice(ORDERS.length)}` : undefined
}

function dataOf({ method, params }: RpcRequest): string | undefined {
  const [transaction] = params ?? []
  return method === 'eth_call' ? (transaction as { data?: string }).data : undefined
}
