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
