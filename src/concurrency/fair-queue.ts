import type { ClientId } from '../clients/client-id.js'

interface Waiter {
  readonly client: ClientId
}

/**
 * A queue in which each network gets equal turns, and within it each client. The requests of one client keep their order.
 * So a long queue of one client or one network delays only itself. A network is an IPv6 /48 or an IPv4 address.
 */
export class FairQueue<W extends Waiter> {
  readonly #networks = new Map<string, Map<string, Set<W>>>()
  /** The number of waiters. Only the queue itself changes it. */
  size = 0

  add(waiter: W): void {
    const clients = this.#networks.get(waiter.client.network) ?? new Map<string, Set<W>>()
    const waiters = clients.get(waiter.client.key) ?? new Set<W>()
    if (waiters.has(waiter)) return
    this.size++
    this.#networks.set(waiter.client.network, clients.set(waiter.client.key, waiters.add(waiter)))
  }

  /** Removes a waiter, if it is in the queue. */
  delete(waiter: W): void {
    const { network } = waiter.client
    const clients = this.#networks.get(network)
    const waiters = clients?.get(waiter.client.key)
    if (clients === undefined || !waiters?.delete(waiter)) return
    this.size--
    if (waiters.size === 0) clients.delete(waiter.client.key)
    if (clients.size === 0) this.#networks.delete(network)
  }

  /** Removes and returns the next waiter whose client may start. Its client and its network go to the end of the queue. */
  take(mayStart: (client: ClientId) => boolean): W | undefined {
    for (const [network, clients] of this.#networks) {
      for (const [key, waiters] of clients) {
        const [first] = waiters
        if (first === undefined || !mayStart(first.client)) continue
        this.delete(first)
        moveToEnd(clients, key)
        moveToEnd(this.#networks, network)
        return first
      }
    }
    return undefined
  }
}

function moveToEnd<V>(map: Map<string, V>, key: string): void {
  const value = map.get(key)
  if (value === undefined) return
  map.delete(key)
  map.set(key, value)
}
