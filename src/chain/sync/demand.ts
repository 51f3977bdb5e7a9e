import type { Clock } from '../../clock.js'

/** Whether anyone needs a chain's newest state at once. Without demand, the leader polls by IDLE_POLL_MS (docs/decisions.md, D12). */
export interface Demand {
  /** Notes a request to this replica, or that it has subscribers. */
  note(): void
  /** Notes that another replica has demand. */
  noteRemote(): void
  /** Whether there has been none for a minute. */
  isIdle(): boolean
}

interface DemandOptions {
  readonly clock: Pick<Clock, 'monotonic'>
  /** Whether this replica has subscribers of events. */
  readonly hasSubscribers: () => boolean
  /** Tells the other replicas, one of which reads the chain. */
  readonly publish: () => void
  /** Called with each note. */
  readonly onNote: () => void
}

const IDLE_AFTER_MS = 60_000
/** Other replicas count demand for a minute as well. */
const PUBLISH_INTERVAL_MS = 20_000

/** Builds the demand of one chain. It begins with demand. */
export function createDemand({ clock, hasSubscribers, publish, onNote }: DemandOptions): Demand {
  let notedAt = clock.monotonic()
  let publishedAt = Number.NEGATIVE_INFINITY

  function noteRemote(): void {
    notedAt = clock.monotonic()
    onNote()
  }

  return {
    note() {
      if (clock.monotonic() - publishedAt >= PUBLISH_INTERVAL_MS) {
        publishedAt = clock.monotonic()
        publish()
      }
      noteRemote()
    },
    noteRemote,
    isIdle: () => !hasSubscribers() && clock.monotonic() - notedAt >= IDLE_AFTER_MS,
  }
}
