import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

interface RpcRequest {
  id: number
  method: string
  params?: [{ data?: string }?]
}

interface RpcAnswer {
  id: number
}

/** An RPC endpoint before a chain's own, which a test can take down, or make lie. */
export async function startRpcProxy(rpcUrl: string) {
  let isUp = true
  let hidesLogs = false
  let revertedSelector: string | undefined

  async function answer(body: string): Promise<string | undefined> {
    if (!isUp) return undefined
    const parsed: RpcRequest | RpcRequest[] = JSON.parse(body)
    const headers = { 'content-type': 'application/json' }
    const text = await (await fetch(rpcUrl, { method: 'POST', headers, body })).text()
    const real: RpcAnswer | RpcAnswer[] = JSON.parse(text)
    if (!Array.isArray(parsed) || !Array.isArray(real)) {
      return JSON.stringify(falsified([parsed].flat()[0], [real].flat()[0]))
    }
    const byId = new Map(parsed.map((request) => [request.id, request]))
    return JSON.stringify(real.map((one) => falsified(byId.get(one.id), one)))
  }

  function falsified(request: RpcRequest | undefined, real: RpcAnswer | undefined): object | undefined {
    const base = { jsonrpc: '2.0', id: real?.id }
    if (hidesLogs && request?.method === 'eth_getLogs') return { ...base, result: [] }
    const isReverted =
      revertedSelector !== undefined && request?.params?.[0]?.data?.startsWith(revertedSelector)
    return isReverted ? { ...base, error: { code: 3, message: 'execution reverted', data: '0x' } } : real
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
    setUp(up: boolean) {
      isUp = up
    },
    hideLogs() {
      hidesLogs = true
    },
    /** Lets calls of a contract's function revert, as if the contract did not have it. */
    revert(selector: string) {
      revertedSelector = selector
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
