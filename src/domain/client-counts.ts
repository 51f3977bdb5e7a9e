import { type ClientId, type ClientNetwork, NETWORK_FACTORS } from './client.js'

/** What keeps a client from one more: its own limit, that of an IPv6 network around it, or that of all together. */
export type CountLimit = 'client' | ClientNetwork | 'total'

interface ClientCountsOptions {
  /** What one client may hold; 0 is no limit, for networks neither. */
  readonly perClient: number
  /** What all clients may hold together. */
  readonly total: number
}

/**
 * Counts what clients hold at the moment, such as stream places. A network may hold a multiple of a client's limit,
 * but at most half of the total, so that no network takes everything (decisions.md D14). Its memory grows only with what
 * is held.
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
    return client.networks.find((network) => this.isFull(network))
  }

  isFull(network: ClientNetwork): boolean {
    return this.#heldBy(network.key) >= this.limitOf(network)
  }

  /** What one network may hold. */
  limitOf({ prefixLength }: ClientNetwork): number {
    const multiple = this.#perClient * NETWORK_FACTORS[prefixLength]
    return Math.max(this.#perClient, Math.min(multiple, Math.floor(this.#total / 2)))
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

  #change({ key, networks }: ClientId, by: number): void {
    this.#set(key, this.#heldBy(key) + by)
    for (const network of networks) this.#set(network.key, this.#heldBy(network.key) + by)
  }

  #set(key: string, count: number): void {
    if (count === 0) this.#counts.delete(key)
    else this.#counts.set(key, count)
  }
}
