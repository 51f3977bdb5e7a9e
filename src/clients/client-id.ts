import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import type { KeyLimits } from './api-key.js'

/**
 * The client of a request, as everything counts it that limits or compares clients: an API key (docs/decisions.md, D27), or else an
 * IPv4 address or an IPv6 /64 with the networks around it (docs/decisions.md, D8).
 */
export interface ClientId {
  /** An IPv4-mapped IPv6 address has the key of the IPv4 address. */
  readonly key: string
  /** IP address of the connection's other end, or what a trusted proxy says of it. */
  readonly address: string
  /** Undefined for a client without a valid API key. */
  readonly apiKey?: ClientKey | undefined
  /** Why the API key of the request is refused, as a sentence; undefined for a request without one, or with a valid one. */
  readonly refusal?: string | undefined
  /** The widest network that one person may own: an IPv4 address, an IPv6 /48 or an API key. */
  readonly network: string
  /** The /56 and the /48 around an IPv6 client, which one person may own entirely; empty for every other client. */
  readonly networks: readonly ClientNetwork[]
  /** The IPv6 /32 or the IPv4 /16 around the client, which one provider owns; an API key has its own. */
  readonly region: string
  readonly isIpv6: boolean
  /** Whether strangers on the internet cannot have it: an API key, or an address of this machine or of a private network. */
  readonly isPrivate: boolean
}

/** A valid API key, as limits and logs need it. */
export interface ClientKey {
  readonly label: string
  /** What the operator has set. */
  readonly limits: KeyLimits
  /** Aborts with a ServiceError when the key is no longer valid. */
  readonly ended: AbortSignal
}

/** An IPv6 network that has a limit of its own (docs/decisions.md, D14). */
export interface ClientNetwork {
  readonly key: string
  readonly prefixLength: 56 | 48
}

/** The process itself, as a subscriber of its own log. */
export const THIS_PROCESS: ClientId = {
  key: '',
  address: '',
  network: '',
  networks: [],
  region: '',
  isIpv6: false,
  isPrivate: true,
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
