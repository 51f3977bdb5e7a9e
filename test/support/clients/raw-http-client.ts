import { Agent, request as httpRequest, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http'
import { expect } from 'vitest'

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

/** The closed list of codes, each with its HTTP statuses (docs/decisions.md, D7). */
const STATUSES: Readonly<Record<string, readonly number[]>> = {
  INVALID_ARGUMENT: [400, 413],
  CHAIN_NOT_SUPPORTED: [404],
  SOLVER_NOT_FOUND: [404],
  ROUTE_NOT_FOUND: [404],
  SIGNATURE_INVALID: [401],
  TIMESTAMP_OUT_OF_RANGE: [401],
  TIMESTAMP_REUSED: [401],
  BOND_INSUFFICIENT: [400],
  ENDPOINT_REJECTED: [400],
  SOLVER_LIMIT_REACHED: [400],
  RATE_LIMITED: [429],
  METHOD_NOT_ALLOWED: [405],
}
const INSIDE = /\n\s*at |\([^)]*:\d+:\d+\)|node_modules|\/src\/|file:\/\//
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

/**
 * Reads a rejection and compares it with the one form of errors. A failure of the service is no rejection.
 */
export function readRefusal({ status, text }: Answer): { code: string; fields: string[] } {
  expect(status, text).toBeGreaterThanOrEqual(400)
  expect(status, text).toBeLessThan(500)
  expect(text).not.toMatch(INSIDE)
  const { error, code, details, ...others } = JSON.parse(text)
  expect(others).toEqual({})
  expect(error).toEqual(expect.stringMatching(/./))
  expect(STATUSES[code] ?? [], `${code} with ${status}`).toContain(status)
  if (details === undefined) return { code, fields: [] }
  expect(code).toBe('INVALID_ARGUMENT')
  for (const detail of details) {
    expect(Object.keys(detail).sort()).toEqual(['field', 'message'])
    expect(detail.message).toEqual(expect.stringMatching(/./))
  }
  const fields: string[] = details.map(({ field }: { field: string }) => field)
  expect(fields.length).toBeGreaterThan(0)
  expect(new Set(fields).size).toBe(fields.length)
  return { code, fields: fields.sort() }
}
