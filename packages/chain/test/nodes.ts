import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { listen } from '../../../test/support/listen.js'
import type { RpcError } from '../src/json-rpc.js'
import { createRpcEndpoint, type RpcEndpointOptions } from '../src/rpc-endpoint.js'

/** A call as it comes to a node. */
export interface Asked {
  readonly jsonrpc: '2.0'
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

/** Answers one HTTP request. */
export type HttpAnswer = (
  response: ServerResponse,
  asked: Asked | readonly Asked[],
  request: IncomingMessage,
) => unknown

/** A secret that must not be said. */
export const KEY = 'secret-key'
export const JSON_TYPE = { 'content-type': 'application/json' }

/** The answer to a call by which a test knows to which call it belongs. */
export const echo = ({ id, method, params }: Asked) => ({ jsonrpc: '2.0', id, result: [method, ...params] })
export const echoAll = (asked: Asked | readonly Asked[]) =>
  Array.isArray(asked) ? asked.map(echo) : echo(asked as Asked)

export function sendJson(response: ServerResponse, body: unknown, status = 200, headers = {}): void {
  response.writeHead(status, { ...JSON_TYPE, ...headers }).end(JSON.stringify(body))
}

/** A node over HTTP, which echoes each call until a test gives another answer. */
export async function startHttpNode(first?: HttpAnswer) {
  let answer = first
  let sizes: number[] = []
  const sockets = new Set<Socket>()
  const server = createServer(async (request, response) => {
    const asked = JSON.parse(await text(request))
    sizes.push(Array.isArray(asked) ? asked.length : 1)
    sockets.add(request.socket)
    if (answer === undefined) sendJson(response, echoAll(asked))
    else answer(response, asked, request)
  })
  const { port } = await listen(server)
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  onTestFinished(close)
  const host = `127.0.0.1:${port}`
  return {
    host,
    url: `http://${host}`,
    answerWith(next: HttpAnswer | undefined) {
      answer = next
    },
    /** The numbers of calls in the requests since the last look. */
    takeSizes(): number[] {
      const taken = sizes
      sizes = []
      return taken
    },
    sizes: (): readonly number[] => sizes,
    connections: () => sockets.size,
    close,
  }
}

/** Answers one message of a socket. */
export type SocketAnswer = (socket: WebSocket, asked: Asked) => unknown

/** A node over WebSockets, which echoes each call until a test gives another answer. */
export async function startSocketNode() {
  let answer: SocketAnswer | undefined
  let opened = 0
  const asked: Asked[] = []
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  server.on('connection', (socket) => {
    opened++
    socket.on('error', () => {})
    socket.on('message', (data) => {
      const call: Asked = JSON.parse(data.toString())
      asked.push(call)
      if (answer === undefined) socket.send(JSON.stringify(echo(call)))
      else answer(socket, call)
    })
  })
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of server.clients) socket.terminate()
    server.close()
  })
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answerWith(next: SocketAnswer | undefined) {
      answer = next
    },
    asked,
    /** The number of sockets so far. */
    opened: () => opened,
    sockets: () => [...server.clients],
  }
}

/** An endpoint whose URL has a key in each of its parts. */
export async function startEndpoint(answer?: HttpAnswer, options: RpcEndpointOptions = {}) {
  const node = await startHttpNode(answer)
  const url = `http://user-name:${KEY}@${node.host}/v2/${KEY}?key=${KEY}`
  const endpoint = createRpcEndpoint(url, options)
  onTestFinished(endpoint.close)
  const failure = (limits = {}): Promise<RpcError> =>
    endpoint.request('eth_call', [], limits).then(
      (result) => expect.fail(`a result: ${JSON.stringify(result)}`),
      (error) => error,
    )
  return { node, endpoint, failure }
}

export const answered =
  (body: object): HttpAnswer =>
  (response, asked) =>
    sendJson(response, { jsonrpc: '2.0', id: (asked as Asked).id, ...body })
export const withError = (error: unknown) => answered({ error })
export const raw =
  (text: string, status = 200): HttpAnswer =>
  (response) =>
    response.writeHead(status, JSON_TYPE).end(text)
