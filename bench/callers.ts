import { Client, H2CClient } from 'undici'

/** Makes one call after another. */
export interface Caller {
  call(): Promise<void>
  /** Closes the connection with its open requests. */
  close(): Promise<unknown>
}

/** A request to an HTTP server, the same each time. */
export interface PreparedRequest {
  readonly url: string
  /** Posted as JSON when present. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Sent over HTTP/2 in place of HTTP/1.1. */
  readonly isHttp2?: boolean
}

const JSON_HEADERS = { 'content-type': 'application/json' }

/** A connection of its own to an HTTP server. A response other than 200 ends the benchmark. */
export function restCaller({ url, body, headers = {}, isHttp2 = false }: PreparedRequest): Caller {
  const { origin, pathname, search } = new URL(url)
  const client = isHttp2 ? new H2CClient(origin) : new Client(origin)
  const request =
    body === undefined
      ? ({ method: 'GET', path: pathname + search, headers } as const)
      : ({
          method: 'POST',
          path: pathname + search,
          headers: { ...JSON_HEADERS, ...headers },
          body: JSON.stringify(body),
        } as const)
  return {
    async call() {
      const response = await client.request(request)
      if (response.statusCode !== 200)
        throw new Error(`${response.statusCode}: ${await response.body.text()}`)
      await response.body.dump()
    },
    close: () => client.destroy(),
  }
}

/** Posts JSON once. @throws Error when the response is not 200 */
// biome-ignore lint/suspicious/noExplicitAny: benchmarks look into answers of several shapes
export async function postJson(url: string, body: unknown): Promise<any> {
  const response = await fetch(url, { method: 'POST', headers: JSON_HEADERS, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
  return response.json()
}
