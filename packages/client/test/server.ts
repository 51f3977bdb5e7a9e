import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'
import { listen } from '../../../test/support/listen.js'
import { type AggregatorClientOptions, createAggregatorClient } from '../src/index.js'

/** A server for one test; @returns its URL, and how many requests it got */
export async function serve(listener: RequestListener) {
  let requests = 0
  const server = createServer((request, response) => {
    requests++
    listener(request, response)
  })
  const { url } = await listen(server)
  onTestFinished(() => void server.close().closeAllConnections())
  return { url, requests: () => requests }
}

/** Answers with JSON. */
export function sendJson(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

/** A client of an instance that answers each request with this body, and the paths that it was asked for. */
export async function clientAnswered(body: unknown, options: Omit<AggregatorClientOptions, 'baseUrl'> = {}) {
  const paths: (string | undefined)[] = []
  const { url } = await serve((request, response) => {
    paths.push(request.url)
    sendJson(response, 200, body)
  })
  return { client: createAggregatorClient({ baseUrl: `${url}/a`, ...options }), url, paths }
}

/** An order that the contract does not know, as an aggregator answers. */
export const NO_ORDER = { state: 'NONE', chainId: 1, orderId: `0x${'22'.repeat(32)}` } as const
