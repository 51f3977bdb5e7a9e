import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A request and its response, as `record-exchanges.mjs` writes them. Headers are names and values in turn, bodies Base64. */
export interface Exchange {
  readonly method: string
  readonly url: string
  readonly requestHeaders: readonly string[]
  readonly requestBody: string
  readonly status: number
  readonly responseHeaders: readonly string[]
  readonly responseBody: string
}

/** Connect and gRPC-Web over HTTP/1.1. */
const RPC = /^\/(aggregator|grpc)\.[a-z0-9.]+\w+\//

/** Reads what processes have recorded into a folder: REST of this service and of servers in its place, equal exchanges once. */
export function readExchanges(folder: string): Exchange[] {
  const exchanges = new Map<string, Exchange>()
  for (const name of readdirSync(folder)) {
    for (const line of readFileSync(join(folder, name), 'utf8').split('\n')) {
      if (line === '') continue
      const exchange: Exchange = JSON.parse(line)
      const { method, url, requestBody, status, responseHeaders, responseBody } = exchange
      const headerNames = responseHeaders.filter((_, index) => index % 2 === 0)
      const key = [method, url, requestBody, status, headerNames, responseBody].join(' ')
      const isRest = isOfService(exchange) ? !RPC.test(url) : url.startsWith('/v1/')
      if (isRest) exchanges.set(key, exchange)
    }
  }
  return [...exchanges.values()]
}

/** Whether this service has answered. Tests start other servers too, which do not number requests as it does. */
export function isOfService({ responseHeaders }: Exchange): boolean {
  const index = responseHeaders.indexOf('x-request-id')
  return index >= 0 && /^[0-9a-f]{16}-\d+$/.test(responseHeaders[index + 1] ?? '')
}
