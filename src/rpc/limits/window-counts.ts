import { NETWORK_FACTORS } from '../../clients/client-counts.js'
import type { ClientId, ClientNetwork } from '../../clients/client-id.js'

interface WindowCountsOptions {
  /** The requests of one client. */
  readonly limit: number
  readonly windowMs: number
  /** The new clients of a window that have their own counts, for IPv4 and IPv6 each. */
  readonly maxClients: number
}

/** The other counts of one limit, in fixed windows and in memory. The number of clients with their own counts bounds them. */
export class WindowCounts {
  readonly networks: NetworkCounts
  readonly newClients: NewClients
  readonly #windowMs: number
  /** On a clock that never goes back. */
  #end = Number.NEGATIVE_INFINITY

  constructor({ limit, windowMs, maxClients }: WindowCountsOptions) {
    this.networks = new NetworkCounts(limit)
    this.newClients = new NewClients(maxClients)
    this.#windowMs = windowMs
  }

  /** Begins a new window when the last one has ended; call it before any count of a request. */
  beginWhenDue(): void {
    if (performance.now() < this.#end) return
    this.#end = performance.now() + this.#windowMs
    this.networks.clear()
    this.newClients.clear()
  }

  msUntilEnd(): number {
    return Math.max(0, this.#end - performance.now())
  }
}

/** The requests of IPv6 networks in a window, for one limit. */
class NetworkCounts {
  readonly #limit: number
  readonly #requests = new Map<string, number>()

  /** @param limit the requests of one client in a window */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** The requests that a network may make in a window. */
  limitOf({ prefixLength }: ClientNetwork): number {
    return this.#limit * NETWORK_FACTORS[prefixLength]
  }

  /** A network around a client that has no requests left. */
  fullNetwork({ networks }: ClientId): ClientNetwork | undefined {
    return networks.find((network) => (this.#requests.get(network.key) ?? 0) >= this.limitOf(network))
  }

  /**
   * Counts a request for the networks around a client.
   * @returns a network that has no requests left, in which case nothing is counted
   */
  charge(client: ClientId): ClientNetwork | undefined {
    const full = this.fullNetwork(client)
    if (full !== undefined) return full
    for (const { key } of client.networks) this.#requests.set(key, (this.#requests.get(key) ?? 0) + 1)
    return undefined
  }

  /** Undoes one charge, because the client's own limit has rejected the request. */
  refund({ networks }: ClientId): void {
    for (const { key } of networks) {
      const count = this.#requests.get(key)
      // A new window may have begun since the charge.
      if (count !== undefined && count > 0) this.#requests.set(key, count - 1)
    }
  }

  clear(): void {
    this.#requests.clear()
  }
}

/** A region may have this part of all new clients, and an IPv6 /48 this part of the clients of its region. */
const NETWORK_PART = 1 / 8
/** The later clients of one network share this number of counts. */
const SHARED_COUNTS_OF_NETWORK = 16
/** The later clients of all networks share this number of counts, for IPv4 and IPv6 each. */
const SHARED_COUNTS = 64

/** The new clients of a window, for one limit. When there are too many, later ones share counts. */
class NewClients {
  readonly #maxClients: number
  readonly #maxOfRegion: number
  readonly #maxOf48: number
  /** By region and by IPv6 /48. */
  readonly #byNetwork = new Map<string, number>()
  readonly #byFamily = { ipv4: 0, ipv6: 0 }

  /** @param maxClients the new clients of a window that have their own counts, for IPv4 and IPv6 each */
  constructor(maxClients: number) {
    this.#maxClients = maxClients
    this.#maxOfRegion = Math.ceil(maxClients * NETWORK_PART)
    this.#maxOf48 = Math.ceil(this.#maxOfRegion * NETWORK_PART)
  }

  /** The key that a new client shares with others when there are too many; undefined while it has its own count. */
  sharedKeyOf(client: ClientId): string | undefined {
    const family = familyOf(client)
    if (this.#byFamily[family] < this.#maxOf48) return undefined
    const network = this.#crowdedNetwork(client)
    if (network !== undefined) return `shared ${network} ${hash(client.key) % SHARED_COUNTS_OF_NETWORK}`
    if (this.#byFamily[family] >= this.#maxClients)
      return `shared ${family} ${hash(client.key) % SHARED_COUNTS}`
    return undefined
  }

  /** Counts a client that has made its first request of a window. */
  add(client: ClientId): void {
    // While the first requests of a network are being counted, more clients of it may come. They must not take the counts of others.
    if (this.#crowdedNetwork(client) !== undefined) return
    const prefix48 = client.networks.at(-1)?.key
    for (const network of prefix48 === undefined ? [client.region] : [client.region, prefix48])
      this.#byNetwork.set(network, (this.#byNetwork.get(network) ?? 0) + 1)
    this.#byFamily[familyOf(client)]++
  }

  clear(): void {
    this.#byNetwork.clear()
    this.#byFamily.ipv4 = 0
    this.#byFamily.ipv6 = 0
  }

  /** The narrowest network of a client that has reached its limit of new clients. */
  #crowdedNetwork({ networks, region }: ClientId): string | undefined {
    const site = networks.at(-1)?.key
    if (site !== undefined && (this.#byNetwork.get(site) ?? 0) >= this.#maxOf48) return site
    return (this.#byNetwork.get(region) ?? 0) >= this.#maxOfRegion ? region : undefined
  }
}

function familyOf({ isIpv6 }: ClientId): 'ipv4' | 'ipv6' {
  return isIpv6 ? 'ipv6' : 'ipv4'
}

function hash(text: string): number {
  let value = 0
  for (const character of text) value = (value * 31 + character.charCodeAt(0)) >>> 0
  return value
}
