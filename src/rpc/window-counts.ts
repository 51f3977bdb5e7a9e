import { NetworkCounts } from './network-counts.js'
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
