import { type Clock, systemClock, type Timer } from '../clock.js'
import type { SessionConnection } from './messages.js'

/** What waits to be sent on one session. */
export interface Backlog {
  /** Whether too much waits. Call it before and after each message. */
  isFull(): boolean
  stop(): void
}

/** A session with more unsent bytes gets no more requests (docs/decisions.md, D18). */
const MAX_UNSENT_BYTES = 256 * 1024
const STALLED_MS = 10_000

/**
 * Watches what waits to be sent.
 * @param onStalled called when too much has waited for 10 seconds
 */
export function watchBacklog(
  connection: Pick<SessionConnection, 'unsentBytes'>,
  onStalled: () => void,
  clock: Clock = systemClock,
): Backlog {
  let timer: Timer | undefined

  function stop(): void {
    timer?.stop()
    timer = undefined
  }

  function isFull(): boolean {
    if (connection.unsentBytes() <= MAX_UNSENT_BYTES) {
      stop()
      return false
    }
    timer ??= clock.setTimeout(() => {
      if (isFull()) onStalled()
    }, STALLED_MS)
    return true
  }

  return { isFull, stop }
}
