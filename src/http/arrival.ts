import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyRequest {
    /** When the request arrived, in milliseconds of `performance.now()`. */
    arrivedAt: number
    /** The IP address of the client, recorded when the request arrives: a connection that has ended has none. */
    clientAddress: string
  }
}

/**
 * Records when a request arrived, and the IP address of its client. Fastify's own `elapsedTime` is always 0 for routes
 * without an `onResponse` hook.
 * @returns false when the connection has already ended, so that no response is needed
 */
export function recordArrival(request: FastifyRequest): boolean {
  request.arrivedAt = performance.now()
  return recordClientAddress(request)
}

/** Milliseconds since a request arrived. */
export function elapsedMs(request: FastifyRequest): number {
  return performance.now() - request.arrivedAt
}

/** Some proxies add the client's port. */
const WITH_BRACKETS_OR_PORT = /^(?:\[([0-9A-Fa-f:.]+)\]|([0-9.]+))(?::[0-9]{1,5})?$/

/**
 * Records the IP address of a request's client (docs/decisions.md, D8). It is the socket's address, or the farthest one
 * that `X-Forwarded-For` names within `TRUST_PROXY`. An entry that is not an IP address ends the list. The client is then
 * the nearest proxy before it, so that forged text never counts as a client of its own.
 * @returns false when the connection has already ended, so that no response is needed
 */
function recordClientAddress(request: FastifyRequest): boolean {
  const { remoteAddress } = request.raw.socket
  if (remoteAddress === undefined) return false
  request.clientAddress = remoteAddress
  for (const entry of request.ips?.slice(1) ?? []) {
    const address = parseEntry(entry)
    if (address === undefined) break
    request.clientAddress = address
  }
  return true
}

/** @returns undefined for text that is not an IP address, or has a zone (RFC 4007), which belongs to one machine */
function parseEntry(entry: string): string | undefined {
  const [, ipv6, ipv4] = WITH_BRACKETS_OR_PORT.exec(entry) ?? []
  const address = ipv6 ?? ipv4 ?? entry
  return isIP(address) !== 0 && !address.includes('%') ? address : undefined
}
