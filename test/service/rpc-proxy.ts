import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

interface RpcRequest {
  id: number
  method: string
}

/** An RPC endpoint before a chain's own, which a test can take down, or make silent about events. */
export async function startRpcProxy(rpcUrl: string) {
  let isUp = true
  let hidesLogs = false
  const methods: string[] = []

  async function answer(body: string): Promise<string | undefined> {
    if (!isUp) return undefined
    const parsed: RpcRequest | RpcRequest[] = JSON.parse(body)
    const requests = Array.isArray(parsed) ? parsed : [parsed]
    methods.push(...requests.map(({ method }) => method))
    if (hidesLogs && requests.some(({ method }) => method === 'eth_getLogs')) {
      const answers = requests.map(({ id }) => ({ jsonrpc: '2.0', id, result: [] }))
      return JSON.stringify(Array.isArray(parsed) ? answers : answers[0])
    }
    const headers = { 'content-type': 'application/json' }
    return (await fetch(rpcUrl, { method: 'POST', headers, body })).text()
  }

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const text = await answer(Buffer.concat(chunks).toString())
    if (text === undefined) response.writeHead(503).end()
    else response.setHeader('content-type', 'application/json').end(text)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The methods that were called, in order. */
    methods,
    setUp(up: boolean) {
      isUp = up
    },
    hideLogs() {
      hidesLogs = true
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
