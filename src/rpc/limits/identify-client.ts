import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import type { ClientId, ClientNetwork } from '../../domain/client.js'

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
const NO_NETWORKS: readonly ClientNetwork[] = []

const known = new LRUCache<string, ClientId>({ max: 4096 })

/** Identifies a client by its IP address. */
export function identifyClient(address: string): ClientId {
  const found = known.get(address)
  if (found !== undefined) return found
  const client = parseClient(address)
  known.set(address, client)
  return client
}

/**
 * The widest network that one person may own: an IPv4 address, or an IPv6 /48. Circuit breakers count clients by this
 * key.
 */
export function widestKeyOf(address: string): string {
  const { key, networks } = identifyClient(address)
  return networks.at(-1)?.key ?? key
}

function parseClient(address: string): ClientId {
  if (!ipaddr.isValid(address)) {
    const key = address.slice(0, MAX_KEY_LENGTH)
    return { key, networks: NO_NETWORKS, region: '', isIpv6: false, isPrivate: false }
  }
  const parsed = ipaddr.process(address)
  const isPrivate = PRIVATE_RANGES.has(parsed.range())
  const bytes = parsed.toByteArray()
  const prefix = (length: number) => bytes.slice(0, length / 8).join('.')
  if (parsed.kind() === 'ipv4') {
    const region = `${prefix(16)}/16`
    return { key: parsed.toString(), networks: NO_NETWORKS, region, isIpv6: false, isPrivate }
  }
  const networks = ([56, 48] as const).map((prefixLength) => ({
    key: `${prefix(prefixLength)}/${prefixLength}`,
    prefixLength,
  }))
  return { key: prefix(64), networks, region: `${prefix(32)}/32`, isIpv6: true, isPrivate }
}
