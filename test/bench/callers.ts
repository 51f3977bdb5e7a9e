import { Client } from 'undici'

/** One connection's way to make one call after another. */
export interface Caller {
  call(): Promise<void>
  close(): Promise<unknown>
}

/** What is asked of an HTTP server, the same each time. */
export interface PreparedRequest {
  readonly url: string
  /** Posted as JSON when there is one. */
  readonly body?: unknown
  readonly pipelining?: number
}

const JSON_HEADERS = { 'content-type': 'application/json' }

/** A connection of its own to an HTTP server; an answer other than 200 ends the benchmark. */
export function restCaller({ url, body, pipelining = 1 }: PreparedRequest): Caller {
  const { origin, pathname, search } = new URL(url)
  const client = new Client(origin, { pipelining })
  const request =
    body === undefined
      ? ({ method: 'GET', path: pathname + search } as const)
      : ({
          method: 'POST',
          path: pathname + search,
          headers: JSON_HEADERS,
          body: JSON.stringify(body),
        } as const)
  return {
    async call() {
      const response = await client.request(request)
      if (response.statusCode !== 200)
        throw new Error(`${response.statusCode}: ${await response.body.text()}`)
      await response.body.dump()
    },
    close: () => client.close(),
  }
}

/** Posts JSON once. @throws Error when the answer is not 200 */
// biome-ignore lint/suspicious/noExplicitAny: benchmarks look into answers of several shapes
export async function postJson(url: string, body: unknown): Promise<any> {
  const response = await fetch(url, { method: 'POST', headers: JSON_HEADERS, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
  return response.json()
}
