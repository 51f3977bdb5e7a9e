import type { ClientId } from '../../domain/client.js'

/** A region may have this part of all new clients, and an IPv6 /48 this part of the clients of its region. */
const NETWORK_PART = 1 / 8
/** The later clients of one network share this number of counts. */
const SHARED_COUNTS_OF_NETWORK = 16
/** The later clients of all networks share this number of counts, for IPv4 and IPv6 each. */
const SHARED_COUNTS = 64

/** The new clients of a window, for one limit. When there are too many, later ones share counts. */
export class Newcomers {
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
    // While the first requests of a network are being counted, more clients of it may come. They must not take room from others.
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
