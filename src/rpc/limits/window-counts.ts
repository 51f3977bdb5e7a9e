import { type ClientId, type ClientNetwork, NETWORK_FACTORS } from '../../domain/client.js'
import { Newcomers } from './newcomers.js'

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
  readonly newcomers: Newcomers
  readonly #windowMs: number
  /** On a clock that never goes back. */
  #end = Number.NEGATIVE_INFINITY

  constructor({ limit, windowMs, maxClients }: WindowCountsOptions) {
    this.networks = new NetworkCounts(limit)
    this.newcomers = new Newcomers(maxClients)
    this.#windowMs = windowMs
  }

  /** Begins a new window when the last one has ended; call it before any count of a request. */
  beginWhenDue(): void {
    if (performance.now() < this.#end) return
    this.#end = performance.now() + this.#windowMs
    this.networks.clear()
    this.newcomers.clear()
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
