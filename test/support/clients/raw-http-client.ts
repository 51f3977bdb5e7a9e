import { Agent, request as httpRequest, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http'

/** A response as received, with its duration. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly milliseconds: number
}

interface Message {
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string | Uint8Array
}

const JSON_TYPE = { 'content-type': 'application/json' }

/** Sends requests byte for byte, unlike `fetch`, which normalises paths. */
export function createRawHttpClient(url: string) {
  const { hostname, port } = new URL(url)
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })

  function send(verb: string, path: string, { headers = {}, body }: Message = {}): Promise<Answer> {
    const start = performance.now()
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
    return new Promise((resolve, reject) => {
      const options = { agent, hostname, port, method: verb, path, headers: { ...headers, ...length } }
      const call = httpRequest(options, async (response) => {
        try {
          const text = (await response.setEncoding('utf8').toArray()).join('')
          const milliseconds = performance.now() - start
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, milliseconds })
        } catch (error) {
          reject(error)
        }
      })
      call.on('error', reject)
      call.end(body)
    })
  }

  return {
    send,
    /** Sends a body as JSON: text and bytes unchanged, anything else in the plain spelling. */
    json(verb: string, path: string, body: unknown): Promise<Answer> {
      const isReady = typeof body === 'string' || body instanceof Uint8Array
      return send(verb, path, { headers: JSON_TYPE, body: isReady ? body : JSON.stringify(body) })
    },
    close: () => agent.destroy(),
  }
}
