import { type ClientId, type ClientNetwork, NETWORK_FACTORS } from '../domain/client.js'

/** What one limit counts beside its clients, in fixed windows and in memory: IPv6 networks, and newcomers by region. */
export interface WindowCounts {
  /**
   * Counts a request for the networks around a client.
   * @returns a network that has no requests left; then nothing is counted
   */
  chargeNetworks(client: ClientId): ClientNetwork | undefined
  /** A network around a client that has no requests left. */
  fullNetwork(client: ClientId): ClientNetwork | undefined
  /** Takes back one charge: the client's own limit has refused the request. */
  refundNetworks(client: ClientId): void
  /** The requests that a network may make in a window. */
  limitOf(network: ClientNetwork): number
  /** The key that a newcomer shares with others when too many have come; undefined while it has a count of its own. */
  sharedKeyOf(client: ClientId): string | undefined
  /** Notes a client that has made its first request of a window. */
  addNewcomer(client: ClientId): void
  msUntilEnd(): number
}

interface WindowCountsOptions {
  /** Of one client. */
  readonly limit: number
  readonly windowMs: number
  /** Newcomers of a window with a count of their own: so many of IPv4, and so many of IPv6. */
  readonly maxClients: number
}

/** A region may bring this part of all newcomers, an IPv6 /48 this part of its region's; later ones share its counts. */
const NETWORK_PART = 1 / 8
const SHARED_COUNTS_OF_NETWORK = 16
const SHARED_COUNTS = 64

/** Builds the counts. Their memory is bounded by the number of clients that have counts of their own. */
export function createWindowCounts(options: WindowCountsOptions): WindowCounts {
  const { limit, windowMs, maxClients } = options
  const maxClientsOfRegion = Math.ceil(maxClients * NETWORK_PART)
  const maxClientsOfSite = Math.ceil(maxClientsOfRegion * NETWORK_PART)
  const requests = new Map<string, number>()
  /** By region and by IPv6 /48. */
  const newcomersOf = new Map<string, number>()
  const newcomers = { ipv4: 0, ipv6: 0 }
  let windowEnd = 0

  const familyOf = ({ isIpv6 }: ClientId) => (isIpv6 ? 'ipv6' : 'ipv4')
  const limitOf = ({ prefixLength }: ClientNetwork) => limit * NETWORK_FACTORS[prefixLength]
  const isFull = (network: ClientNetwork) => (requests.get(network.key) ?? 0) >= limitOf(network)

  function beginWindowWhenDue(): void {
    if (Date.now() < windowEnd) return
    windowEnd = Date.now() + windowMs
    requests.clear()
    newcomersOf.clear()
    newcomers.ipv4 = 0
    newcomers.ipv6 = 0
  }

  /** The narrowest network of a client that has brought all newcomers that it may. */
  function crowdedNetwork({ networks, region }: ClientId): string | undefined {
    const site = networks.at(-1)?.key
    if (site !== undefined && (newcomersOf.get(site) ?? 0) >= maxClientsOfSite) return site
    return (newcomersOf.get(region) ?? 0) >= maxClientsOfRegion ? region : undefined
  }

  const fullNetwork = ({ networks }: ClientId) => networks.find(isFull)

  return {
    fullNetwork,
    chargeNetworks(client) {
      const { networks } = client
      const full = fullNetwork(client)
      if (full !== undefined) return full
      for (const { key } of networks) requests.set(key, (requests.get(key) ?? 0) + 1)
      return undefined
    },
    refundNetworks({ networks }) {
      for (const { key } of networks) {
        const count = requests.get(key)
        // A new window may have begun since the charge.
        if (count !== undefined && count > 0) requests.set(key, count - 1)
      }
    },
    limitOf,
    sharedKeyOf(client) {
      beginWindowWhenDue()
      const family = familyOf(client)
      if (newcomers[family] < maxClientsOfSite) return undefined
      const network = crowdedNetwork(client)
      if (network !== undefined) return `shared ${network} ${hash(client.key) % SHARED_COUNTS_OF_NETWORK}`
      if (newcomers[family] >= maxClients) return `shared ${family} ${hash(client.key) % SHARED_COUNTS}`
      return undefined
    },
    addNewcomer(client) {
      // More of one network may come while their first requests are being counted: they take nothing from others.
      if (crowdedNetwork(client) !== undefined) return
      const site = client.networks.at(-1)?.key
      for (const network of site === undefined ? [client.region] : [client.region, site])
        newcomersOf.set(network, (newcomersOf.get(network) ?? 0) + 1)
      newcomers[familyOf(client)]++
    },
    msUntilEnd: () => Math.max(0, windowEnd - Date.now()),
  }
}

function hash(text: string): number {
  let value = 0
  for (const character of text) value = (value * 31 + character.charCodeAt(0)) >>> 0
  return value
}
