import { randomUUID } from 'node:crypto'
import type { Clock, Timer } from '../../packages/protocol/src/clock.js'
import type { SessionConnection } from './messages.js'

const MAX_UNANSWERED = 2

/**
 * Starts to send pings. Their ids are random, so that only a solver that reads can answer them.
 * @param onSilent called when two pings are unanswered and the next one is due
 */
export function startHeartbeat(
  intervalMs: number,
  sendPing: (id: string) => void,
  onSilent: () => void,
  clock: Clock,
) {
  const unanswered = new Set<string>()
  const timer = clock.setInterval(() => {
    if (unanswered.size >= MAX_UNANSWERED) return onSilent()
    const id = randomUUID()
    unanswered.add(id)
    sendPing(id)
  }, intervalMs)
  return {
    /** @returns false when no ping with this id waits for its pong */
    receivePong: (id: string): boolean => unanswered.delete(id),
    stop: timer.stop,
  }
}

/** A session with more unsent bytes gets no more requests (docs/decisions.md, D18). */
const MAX_UNSENT_BYTES = 256 * 1024
const STALLED_MS = 10_000

/**
 * Watches what waits to be sent on one session.
 * @param onStalled called when too much has waited for 10 seconds
 */
export function watchBacklog(connection: SessionConnection, onStalled: () => void, clock: Clock) {
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

  return {
    /** Whether too much waits. Call it before and after each message. */
    isFull,
    stop,
  }
}
