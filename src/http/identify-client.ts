import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import type { ClientId, ClientNetwork } from '../clients/client-id.js'

/** Some proxies add the client's port. */
const WITH_BRACKETS_OR_PORT = /^(?:\[([0-9A-Fa-f:.]+)\]|([0-9.]+))(?::[0-9]{1,5})?$/

/**
 * The IP address of a request's client (docs/decisions.md, D8). It is the socket's address, or the farthest one
 * that `X-Forwarded-For` names within `TRUST_PROXY`. An entry that is not an IP address ends the list. The client is then
 * the nearest proxy before it, so that forged text never counts as a client of its own.
 * @returns undefined when the connection has already ended
 */
export function clientAddressOf(request: FastifyRequest): string | undefined {
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

/** Longer than any address. Of other text that a proxy sends as its client, this much counts. */
const MAX_KEY_LENGTH = 64
/** IANA's special ranges for this machine and for networks outside the internet. */
const PRIVATE_RANGES: ReadonlySet<string> = new Set([
  'loopback',
  'private',
  'linkLocal',
  'uniqueLocal',
  'carrierGradeNat',
])

const known = new LRUCache<string, ClientId>({ max: 4096 })

/** Identifies a client by its IP address. */
export function identifyClient(address: string): ClientId {
  const found = known.get(address)
  if (found !== undefined) return found
  const client = parseClient(address)
  known.set(address, client)
  return client
}

function parseClient(address: string): ClientId {
  if (!ipaddr.isValid(address)) {
    const key = address.slice(0, MAX_KEY_LENGTH)
    return { key, address, network: key, networks: [], region: '', isIpv6: false, isPrivate: false }
  }
  const parsed = ipaddr.process(address)
  const isPrivate = PRIVATE_RANGES.has(parsed.range())
  const bytes = parsed.toByteArray()
  const prefix = (length: number) => bytes.slice(0, length / 8).join('.')
  if (parsed.kind() === 'ipv4') {
    const key = parsed.toString()
    const region = `${prefix(16)}/16`
    return { key, address, network: key, networks: [], region, isIpv6: false, isPrivate }
  }
  const networkOf = (prefixLength: ClientNetwork['prefixLength']) => ({
    key: `${prefix(prefixLength)}/${prefixLength}`,
    prefixLength,
  })
  const networks = [networkOf(56), networkOf(48)] as const
  const region = `${prefix(32)}/32`
  return { key: prefix(64), address, network: networks[1].key, networks, region, isIpv6: true, isPrivate }
}
