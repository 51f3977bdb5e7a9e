import { once } from 'node:events'
import { connect } from 'node:net'
import { Client } from 'undici'

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
}

const JSON_HEADERS = { 'content-type': 'application/json' }

/** A connection of its own to an HTTP server. A response other than 200 ends the benchmark. */
export function restCaller({ url, body, headers = {} }: PreparedRequest): Caller {
  const { origin, pathname, search } = new URL(url)
  const client = new Client(origin)
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

/**
 * A connection that requests one path again and again, and reads only the status and length of a response, so
 * that the server limits the rate. A response other than 200 ends the benchmark.
 */
export async function leanCaller(url: string): Promise<Caller> {
  const { host, pathname } = new URL(url)
  const { exchange, close } = await openConnection(url, `GET ${pathname} HTTP/1.1\r\nhost: ${host}\r\n\r\n`)
  return {
    call: () =>
      exchange().then((answer) => {
        if (!answer.startsWith('HTTP/1.1 200 ')) throw new Error(answer)
      }),
    close,
  }
}

/** The status of a response, and when its server wants the next request. */
export interface Answer {
  readonly status: number
  readonly retryAfterMs: number | undefined
}

/** A connection that posts the same JSON again and again, and accepts any status. */
export async function postCaller(url: string, body: unknown) {
  const { host, pathname, search } = new URL(url)
  const text = JSON.stringify(body)
  const request =
    `POST ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n` +
    `content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
  const { exchange, close } = await openConnection(url, request)
  return {
    async call(): Promise<Answer> {
      const answer = await exchange()
      const seconds = /\r\nretry-after: (\d+)\r\n/i.exec(answer)?.[1]
      return {
        status: Number(answer.slice('HTTP/1.1 '.length).slice(0, 3)),
        retryAfterMs: seconds === undefined ? undefined : 1000 * Number(seconds),
      }
    },
    close,
  }
}

/** A connection that sends the same request again and again. */
async function openConnection(url: string, request: string) {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  await once(socket, 'connect')
  let answer = ''
  let onAnswer = (_: string) => {}
  let onFailure = (_: Error) => {}
  socket.on('data', (chunk) => {
    answer += chunk.toString('latin1')
    if (!isWhole(answer)) return
    const whole = answer
    answer = ''
    onAnswer(whole)
  })
  socket.on('close', () => onFailure(new Error(`the connection to ${url} was closed`)))
  socket.on('error', (error) => onFailure(error))
  return {
    /** Resolves with the response in latin1. */
    exchange: () =>
      new Promise<string>((resolve, reject) => {
        onAnswer = resolve
        onFailure = reject
        socket.write(request)
      }),
    async close() {
      socket.destroy()
    },
  }
}

/** Whether a response in latin1 is complete, by its `content-length`. */
function isWhole(answer: string): boolean {
  const endOfHeaders = answer.indexOf('\r\n\r\n')
  if (endOfHeaders === -1) return false
  const [, length] = /\r\ncontent-length: (\d+)\r\n/i.exec(answer) ?? []
  return answer.length >= endOfHeaders + '\r\n\r\n'.length + Number(length ?? 0)
}

/** Posts JSON once. @throws Error when the response is not 200 */
// biome-ignore lint/suspicious/noExplicitAny: benchmarks look into answers of several shapes
export async function postJson(url: string, body: unknown): Promise<any> {
  const response = await fetch(url, { method: 'POST', headers: JSON_HEADERS, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
  return response.json()
}
