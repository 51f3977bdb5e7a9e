import type { Clock } from '../../../packages/protocol/src/clock.js'
import type { ChainState } from './chain-state.js'

const IDLE_AFTER_MS = 60_000
/** Other replicas count demand for a minute as well. */
const PUBLISH_INTERVAL_MS = 20_000
/** How long a request waits for the newest state after a time without demand. */
const WAKE_MS = 300
const WAKE_CHECK_MS = 10

/**
 * Whether anyone needs a chain's newest state at once. Without demand, the leader polls by IDLE_POLL_MS (docs/decisions.md, D12).
 * Builds the demand of one chain. It begins with demand.
 * @param state returns the chain's current state
 * @param hasSubscribers whether this replica has subscribers of events
 * @param publish tells the other replicas, one of which reads the chain
 */
export function createDemand(
  clock: Pick<Clock, 'monotonic' | 'sleep'>,
  state: () => Pick<ChainState, 'snapshot' | 'wake'>,
  hasSubscribers: () => boolean,
  publish: () => void,
) {
  let notedAt = clock.monotonic()
  let publishedAt = Number.NEGATIVE_INFINITY

  function noteRemote(): void {
    notedAt = clock.monotonic()
    if (state().snapshot.isIdle) state().wake()
  }

  function note(): void {
    if (clock.monotonic() - publishedAt >= PUBLISH_INTERVAL_MS) {
      publishedAt = clock.monotonic()
      publish()
    }
    noteRemote()
  }

  async function awake(): Promise<void> {
    const until = clock.monotonic() + WAKE_MS
    while (state().snapshot.isIdle && clock.monotonic() < until) await clock.sleep(WAKE_CHECK_MS)
  }

  return {
    /** Notes a request to this replica, or that it has subscribers. */
    note,
    /** Notes that another replica has demand. */
    noteRemote,
    /**
     * Notes a request that needs the newest state.
     * @returns when the state is as new as that, after a moment at the latest; undefined when it is already
     */
    wake(): Promise<void> | undefined {
      note()
      return state().snapshot.isIdle ? awake() : undefined
    },
    /** Whether there has been none for a minute. */
    isIdle: (): boolean => !hasSubscribers() && clock.monotonic() - notedAt >= IDLE_AFTER_MS,
  }
}
