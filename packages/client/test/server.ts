import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** A server that is not an aggregator; @returns its URL, and how many requests it got */
export async function serve(listener: RequestListener) {
  let requests = 0
  const server = createServer((request, response) => {
    requests++
    listener(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, requests: () => requests }
}

/** Answers with JSON. */
export function sendJson(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

/** An order that the contract does not know, as an aggregator answers. */
export const NO_ORDER = { state: 'NONE', chainId: 1, orderId: `0x${'22'.repeat(32)}` } as const
