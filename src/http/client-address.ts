import { isIP } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyRequest {
    /** The answer of `clientAddress`, kept: a connection that has ended has no address any more. */
    knownClient: string
  }
}

/** Stands for the address of a client whose connection ended before anything was read from it. */
const GONE = 'gone'

/** Some proxies add the client's port. */
const WITH_BRACKETS_OR_PORT = /^(?:\[([0-9A-Fa-f:.]+)\]|([0-9.]+))(?::[0-9]{1,5})?$/

/** Finds out each request's client when it arrives. */
export function registerClientAddress(server: FastifyInstance): void {
  server.decorateRequest('knownClient', '')
  server.addHook('onRequest', (request, _reply, done) => {
    clientAddress(request)
    done()
  })
}

/**
 * The client's IP address (decisions.md D8): the socket's, or the last one that `X-Forwarded-For` names within
 * `TRUST_PROXY`. An entry that is no IP address ends the list: the client is then the nearest proxy before it, so that forged
 * text never counts as a client of its own. `gone` when the connection had ended at the first call for this request.
 */
export function clientAddress(request: FastifyRequest): string {
  if (request.knownClient === '') request.knownClient = findClient(request)
  return request.knownClient
}

function findClient(request: FastifyRequest): string {
  const { remoteAddress = GONE } = request.raw.socket
  let client = remoteAddress
  for (const entry of request.ips?.slice(1) ?? []) {
    const address = parseEntry(entry)
    if (address === undefined) break
    client = address
  }
  return client
}

/** @returns undefined for all but an IP address; a zone (RFC 4007) belongs to one machine and is refused */
function parseEntry(entry: string): string | undefined {
  const [, ipv6, ipv4] = WITH_BRACKETS_OR_PORT.exec(entry) ?? []
  const address = ipv6 ?? ipv4 ?? entry
  return isIP(address) !== 0 && !address.includes('%') ? address : undefined
}
