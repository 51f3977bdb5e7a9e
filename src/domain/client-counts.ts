import { type ClientId, type ClientNetwork, NETWORK_FACTORS } from './client.js'

/** What keeps a client from one more: its own limit, that of a network or the region around it, or that of all. */
export type CountLimit = 'client' | ClientNetwork | 'region' | 'total'

/** A network or a region may hold this part of the total. */
const MAX_PART = 1 / 4

interface ClientCountsOptions {
  /** What one client may hold; 0 is no limit, for networks and regions neither. */
  readonly perClient: number
  /** What all clients may hold together. */
  readonly total: number
}

/**
 * Counts what clients hold at the moment, such as stream slots. A network may hold a multiple of a client's limit. A
 * network or a region holds at most a quarter of the total, so that no owner of addresses takes everything. A region of
 * private addresses has no limit: strangers cannot have them, and a whole company may come from one /16. Its memory
 * grows only with what is held.
 */
export class ClientCounts {
  readonly #perClient: number
  readonly #total: number
  readonly #counts = new Map<string, number>()
  #held = 0

  constructor({ perClient, total }: ClientCountsOptions) {
    this.#perClient = perClient
    this.#total = total
  }

  /** How many are held by all. */
  get held(): number {
    return this.#held
  }

  /** The limit that one more of a client would exceed; undefined when there is none. */
  fullAt(client: ClientId): CountLimit | undefined {
    if (this.#held >= this.#total) return 'total'
    if (this.#perClient === 0) return undefined
    if (this.#heldBy(client.key) >= this.#perClient) return 'client'
    const network = client.networks.find((each) => this.isFull(each))
    if (network !== undefined) return network
    return isRegionLimited(client) && this.#heldBy(client.region) >= this.maxOfRegion ? 'region' : undefined
  }

  isFull(network: ClientNetwork): boolean {
    return this.#heldBy(network.key) >= this.limitOf(network)
  }

  /** What one network may hold. */
  limitOf({ prefixLength }: ClientNetwork): number {
    return Math.min(this.#perClient * NETWORK_FACTORS[prefixLength], this.maxOfRegion)
  }

  /** What one region may hold: never less than one client. */
  get maxOfRegion(): number {
    return Math.max(this.#perClient, Math.floor(this.#total * MAX_PART))
  }

  add(client: ClientId): void {
    this.#held++
    this.#change(client, 1)
  }

  /** Takes back one `add` of the same client. */
  remove(client: ClientId): void {
    this.#held--
    this.#change(client, -1)
  }

  #heldBy(key: string): number {
    return this.#counts.get(key) ?? 0
  }

  #change(client: ClientId, by: number): void {
    this.#set(client.key, this.#heldBy(client.key) + by)
    for (const network of client.networks) this.#set(network.key, this.#heldBy(network.key) + by)
    if (isRegionLimited(client)) this.#set(client.region, this.#heldBy(client.region) + by)
  }

  #set(key: string, count: number): void {
    if (count === 0) this.#counts.delete(key)
    else this.#counts.set(key, count)
  }
}

function isRegionLimited({ region, isPrivate }: ClientId): boolean {
  return region !== '' && !isPrivate
}
