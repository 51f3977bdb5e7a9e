/** A client as limits count it: an IPv4 address or an IPv6 /64 (docs/decisions.md, D8), with the networks around it. */
export interface ClientId {
  /** An IPv4-mapped IPv6 address has the key of the IPv4 address. */
  readonly key: string
  /** The /56 and the /48 around an IPv6 client, which one person may own entirely; empty for an IPv4 client. */
  readonly networks: readonly ClientNetwork[]
  /** The IPv6 /32 or the IPv4 /16 around the client, which one provider owns. */
  readonly region: string
  readonly isIpv6: boolean
  /** Whether the address belongs to this machine or a private network, where strangers on the internet have none. */
  readonly isPrivate: boolean
}

/** An IPv6 network that has a limit of its own (docs/decisions.md, D14). */
export interface ClientNetwork {
  readonly key: string
  readonly prefixLength: 56 | 48
}

/** Limit of a network, as a multiple of one client's limit. */
export const NETWORK_FACTORS: Readonly<Record<ClientNetwork['prefixLength'], number>> = { 56: 4, 48: 16 }

/** The process itself, as a subscriber of its own log. */
export const THIS_PROCESS: ClientId = { key: '', networks: [], region: '', isIpv6: false, isPrivate: true }
