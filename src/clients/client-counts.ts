import type { KeyLimits } from './api-key.js'
import type { ClientId, ClientNetwork } from './client-id.js'

/** Limit of a network, as a multiple of one client's limit. */
export const NETWORK_FACTORS: Readonly<Record<ClientNetwork['prefixLength'], number>> = { 56: 4, 48: 16 }

/** The limit that rejects a client: its own, that of a network or the region around it, or that of all clients. */
export type CountLimit = 'client' | ClientNetwork | 'region' | 'total'

/** A network or a region may hold this part of the total. */
const MAX_PART = 1 / 4

interface ClientCountsOptions {
  /** Number that one client may hold; 0 turns off the limits of clients, networks and regions. */
  readonly perClient: number
  /** Number that all clients may hold together. */
  readonly total: number
  /**
   * The limit of an API key: its own one of this name, or else a multiple of a client's limit; that itself when undefined.
   */
  readonly ofKeys?: { readonly name: keyof KeyLimits; readonly factor: number }
}

/**
 * Counts what clients hold at the moment, such as stream slots. A network may hold a multiple of a client's limit. A
 * network or a region holds at most a quarter of the total, so that no owner of many addresses can take all of it. A
 * region of private addresses has no limit: strangers cannot have these addresses, and a whole company may share one /16.
 * The memory grows only with the number held.
 */
export class ClientCounts {
  readonly #perClient: number
  readonly #total: number
  readonly #ofKeys: ClientCountsOptions['ofKeys']
  readonly #counts = new Map<string, number>()
  #held = 0

  constructor({ perClient, total, ofKeys }: ClientCountsOptions) {
    this.#perClient = perClient
    this.#total = total
    this.#ofKeys = ofKeys
  }

  /** Number that all clients hold. */
  get held(): number {
    return this.#held
  }

  /** The limit that one more for this client would exceed, if any. */
  fullAt(client: ClientId): CountLimit | undefined {
    if (this.#held >= this.#total) return 'total'
    const limit = this.limitOfClient(client)
    if (limit === 0) return undefined
    if (this.#heldBy(client.key) >= limit) return 'client'
    const network = client.networks.find((each) => this.isFull(each))
    if (network !== undefined) return network
    return isRegionLimited(client) && this.#heldBy(client.region) >= this.maxOfRegion ? 'region' : undefined
  }

  /** Number that this client may hold; 0 is no limit. */
  limitOfClient({ apiKey }: ClientId): number {
    if (apiKey === undefined || this.#ofKeys === undefined) return this.#perClient
    return apiKey.limits[this.#ofKeys.name] ?? this.#perClient * this.#ofKeys.factor
  }

  isFull(network: ClientNetwork): boolean {
    return this.#heldBy(network.key) >= this.limitOf(network)
  }

  /** Number that one network may hold. */
  limitOf({ prefixLength }: ClientNetwork): number {
    return Math.min(this.#perClient * NETWORK_FACTORS[prefixLength], this.maxOfRegion)
  }

  /** Number that one region may hold; at least the limit of one client. */
  get maxOfRegion(): number {
    return Math.max(this.#perClient, Math.floor(this.#total * MAX_PART))
  }

  add(client: ClientId): void {
    this.#held++
    this.#change(client, 1)
  }

  /** Undoes one `add` of the same client. */
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
