import { Code, ConnectError } from '@connectrpc/connect'
import type { ClientId } from '../../domain/client.js'
import { ClientCounts } from '../../domain/client-counts.js'

export interface HealthWatchersOptions {
  /** How often watchers are woken to check for a change while there are any, in milliseconds. */
  readonly watchIntervalMs: number
  /** The most watchers at the same time. */
  readonly maxWatchers: number
  /** The most watchers of one client at the same time. */
  readonly maxWatchersPerClient: number
}

/** The open streams of health checking. */
export class HealthWatchers {
  readonly #watchIntervalMs: number
  readonly #counts: ClientCounts
  readonly #wakers = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined

  constructor({ watchIntervalMs, maxWatchers, maxWatchersPerClient }: HealthWatchersOptions) {
    this.#watchIntervalMs = watchIntervalMs
    this.#counts = new ClientCounts({ perClient: maxWatchersPerClient, total: maxWatchers })
  }

  /**
   * Adds a watcher, and wakes it at every interval.
   * @throws ConnectError RESOURCE_EXHAUSTED when there are as many as are allowed
   */
  add(wake: () => void, client: ClientId): void {
    const limit = this.#counts.fullAt(client)
    if (limit !== undefined) {
      const who =
        limit === 'total' ? 'All clients together have' : 'This client, its network or its region has'
      throw new ConnectError(`${who} as many health watchers as are allowed.`, Code.ResourceExhausted)
    }
    this.#counts.add(client)
    this.#wakers.add(wake)
    this.#timer ??= setInterval(() => this.wakeAll(), this.#watchIntervalMs).unref()
  }

  remove(wake: () => void, client: ClientId): void {
    this.#wakers.delete(wake)
    this.#counts.remove(client)
    if (this.#wakers.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  wakeAll(): void {
    for (const wake of this.#wakers) wake()
  }
}
