import { type ClientId, type ClientNetwork, NETWORK_FACTORS } from '../domain/client.js'

/** The other counts of one limit, in fixed windows and in memory: requests of IPv6 networks, and new clients by region. */
export interface WindowCounts {
  /**
   * Counts a request for the networks around a client.
   * @returns a network that has no requests left, in which case nothing is counted
   */
  chargeNetworks(client: ClientId): ClientNetwork | undefined
  /** A network around a client that has no requests left. */
  fullNetwork(client: ClientId): ClientNetwork | undefined
  /** Undoes one charge, because the client's own limit has rejected the request. */
  refundNetworks(client: ClientId): void
  /** The requests that a network may make in a window. */
  limitOf(network: ClientNetwork): number
  /** The key that a new client shares with others when there are too many; undefined while it has its own count. */
  sharedKeyOf(client: ClientId): string | undefined
  /** Counts a client that has made its first request of a window. */
  addNewcomer(client: ClientId): void
  msUntilEnd(): number
}

interface WindowCountsOptions {
  /** The requests of one client. */
  readonly limit: number
  readonly windowMs: number
  /** The new clients of a window that have their own counts, for IPv4 and IPv6 each. */
  readonly maxClients: number
}

/** The part of all new clients that a region may have, and the part of its region's that an IPv6 /48 may have. Later ones share counts. */
const NETWORK_PART = 1 / 8
const SHARED_COUNTS_OF_NETWORK = 16
const SHARED_COUNTS = 64

/** Builds the counts. The number of clients with their own counts bounds their memory. */
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

  /** The narrowest network of a client that has reached its limit of new clients. */
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
      // While the first requests of a network are being counted, more clients of it may come. They must not take room from others.
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
