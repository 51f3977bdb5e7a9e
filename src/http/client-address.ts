import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyRequest {
    /** The IP address of the client, noted when the request arrives: a connection that has ended has none. */
    clientAddress: string
  }
}

/** Some proxies add the client's port. */
const WITH_BRACKETS_OR_PORT = /^(?:\[([0-9A-Fa-f:.]+)\]|([0-9.]+))(?::[0-9]{1,5})?$/

/**
 * Notes the IP address of a request's client (docs/decisions.md, D8): the socket's, or the one farthest from it that
 * `X-Forwarded-For` names within `TRUST_PROXY`. An entry that is no IP address ends the list: the client is then the
 * nearest proxy before it, so that forged text never counts as a client of its own.
 * @returns false when the connection has ended before, so that nothing needs an answer
 */
export function noteClientAddress(request: FastifyRequest): boolean {
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

/** @returns undefined for all but an IP address; a zone (RFC 4007) belongs to one machine and is refused */
function parseEntry(entry: string): string | undefined {
  const [, ipv6, ipv4] = WITH_BRACKETS_OR_PORT.exec(entry) ?? []
  const address = ipv6 ?? ipv4 ?? entry
  return isIP(address) !== 0 && !address.includes('%') ? address : undefined
}
