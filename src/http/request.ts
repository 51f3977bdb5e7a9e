import { constants, type ServerHttp2Stream } from 'node:http2'
import { isIP } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { invalidArgument } from '../../packages/protocol/src/errors.js'
import type { CallContext, CallSignal, QuoteSummary } from '../clients/call.js'
import { type ClientId, identifyClient } from '../clients/client-id.js'
import type { KeyRing } from '../rpc/limits/key-ring.js'
import type { LimitedCall } from '../rpc/limits/rate-limits.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** When the request arrived, in milliseconds of `performance.now()`. */
    arrivedAt: number
    /** The client, identified when the request arrives: a connection that has ended has no address. */
    client: ClientId
  }
}

/**
 * Records when a request arrived, and its client, which is the one for all limits, logs and records. Fastify's own
 * `elapsedTime` is always 0 for routes without an `onResponse` hook.
 * @returns false when the connection has already ended, so that no response is needed
 */
export function recordArrival(request: FastifyRequest, keys: Pick<KeyRing, 'identify'>): boolean {
  request.arrivedAt = performance.now()
  const address = clientAddressOf(request)
  if (address === undefined) return false
  const client = identifyClient(address)
  const { 'x-api-key': header, authorization } = request.headers
  const mayHaveKey = header !== undefined || authorization !== undefined
  request.client = mayHaveKey ? keys.identify(client, header, authorization) : client
  return true
}

/** Milliseconds since a request arrived. */
export function elapsedMs(request: FastifyRequest): number {
  return performance.now() - request.arrivedAt
}

const MAX_TIMEOUT_DIGITS = /^[0-9]{1,10}$/

/** Ends a request whose client has left, without a response and without a line in the log. */
export function abandon(request: FastifyRequest, reply: FastifyReply): void {
  reply.hijack()
  request.raw.destroy()
}

/** Cuts the connection of a client that does not read; on HTTP/2, its stream only. */
export function cut({ raw }: FastifyRequest): void {
  if (!('stream' in raw)) return void raw.socket.destroy()
  const stream = raw.stream as ServerHttp2Stream
  stream.close(constants.NGHTTP2_CANCEL)
  // Node keeps a closed stream for as long as it has bytes of the client that nobody reads.
  stream.destroy()
}

/** Whether the connection of a request, or its HTTP/2 stream, has ended. */
export function isCancelled({ raw }: FastifyReply): boolean {
  return raw.destroyed || ('stream' in raw && (raw.stream as ServerHttp2Stream).destroyed)
}

/** What limits need of a request. */
export function toLimitedCall(request: FastifyRequest, reply: FastifyReply): LimitedCall {
  return { client: request.client, setHeader: (name, value) => void reply.header(name, value) }
}

/** The context of a REST request for a method. */
export class RestContext implements CallContext {
  readonly protocol: 'rest' | 'sse'
  readonly requestId: string
  readonly client: ClientId
  readonly timeoutMs: number | undefined
  readonly traceparent: string | undefined
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply
  #signal: CallSignal | undefined

  /** @throws ServiceError INVALID_ARGUMENT for a deadline that is not a number */
  constructor(request: FastifyRequest, reply: FastifyReply, protocol: 'rest' | 'sse' = 'rest') {
    this.protocol = protocol
    this.requestId = request.id
    this.client = request.client
    this.timeoutMs = timeoutOf(request)
    this.traceparent = readTraceparent(request.headers.traceparent)
    this.#request = request
    this.#reply = reply
  }

  /** It is created when it is first read: most methods need none. */
  get signal(): CallSignal {
    this.#signal ??= new LeaveSignal(this.#reply)
    return this.#signal
  }

  get host(): string {
    return this.#request.host
  }

  setHeader(name: string, value: string): void {
    this.#reply.header(name, value)
  }

  recordQuote(quote: QuoteSummary): void {
    this.#request.quote = quote
  }

  isDrained(): boolean {
    return this.#reply.raw.writableLength === 0
  }

  abandon(): void {
    cut(this.#request)
  }
}

/** Aborted when the client closes the connection, or its HTTP/2 stream, before its response has ended. */
class LeaveSignal implements CallSignal {
  aborted: boolean
  readonly #listeners = new Set<() => void>()

  constructor(reply: FastifyReply) {
    const { raw } = reply
    this.aborted = isCancelled(reply)
    if (this.aborted) return
    raw.once('close', () => {
      // On HTTP/2, `writableFinished` is also true when the client has closed the connection.
      if (raw.writableEnded) return
      this.aborted = true
      for (const listener of this.#listeners) listener()
    })
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.add(listener)
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.delete(listener)
  }
}

/** Version 00 of W3C Trace Context: version, trace id, parent id, flags. */
const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/**
 * Reads the header `traceparent` of a request (W3C Trace Context, 3.2).
 * @returns undefined for a header that is absent or not valid: the standard says to ignore it
 */
export function readTraceparent(value: unknown): string | undefined {
  return typeof value === 'string' && TRACEPARENT.test(value) ? value : undefined
}

/** What is left of the caller's own deadline, which is in the header that Connect clients send. */
function timeoutOf(request: FastifyRequest): number | undefined {
  const text = request.headers['connect-timeout-ms']
  if (text === undefined) return undefined
  if (typeof text === 'string' && MAX_TIMEOUT_DIGITS.test(text))
    return Math.max(0, Number(text) - elapsedMs(request))
  throw invalidArgument([{ field: 'Connect-Timeout-Ms', message: 'must be milliseconds, at most 10 digits' }])
}

/** Some proxies add the client's port. */
const WITH_BRACKETS_OR_PORT = /^(?:\[([0-9A-Fa-f:.]+)\]|([0-9.]+))(?::[0-9]{1,5})?$/

/**
 * The IP address of a request's client (docs/decisions.md, D8). It is the socket's address, or the farthest one
 * that `X-Forwarded-For` names within `TRUST_PROXY`. An entry that is not an IP address ends the list. The client is then
 * the nearest proxy before it, so that forged text never counts as a client of its own.
 * @returns undefined when the connection has already ended
 */
function clientAddressOf(request: FastifyRequest): string | undefined {
  let client = request.raw.socket.remoteAddress
  for (const entry of request.ips?.slice(1) ?? []) {
    const address = parseEntry(entry)
    if (address === undefined) break
    client = address
  }
  return client
}

/** @returns undefined for text that is not an IP address, or has a zone (RFC 4007), which belongs to one machine */
function parseEntry(entry: string): string | undefined {
  const [, ipv6, ipv4] = WITH_BRACKETS_OR_PORT.exec(entry) ?? []
  const address = ipv6 ?? ipv4 ?? entry
  return isIP(address) !== 0 && !address.includes('%') ? address : undefined
}
