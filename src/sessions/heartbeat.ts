import { randomUUID } from 'node:crypto'
import { type Clock, systemClock } from '../clock.js'

/** The pings of one session. */
export interface Heartbeat {
  /** @returns false when no ping with this id waits for its pong */
  receivePong(id: string): boolean
  stop(): void
}

interface HeartbeatOptions {
  readonly intervalMs: number
  readonly sendPing: (id: string) => void
  /** Called when two pings are unanswered and the next one is due. */
  readonly onSilent: () => void
  readonly clock?: Clock
}

const MAX_UNANSWERED = 2

/** Starts to send pings. Their ids are random, so that only a solver that reads can answer them. */
export function startHeartbeat(options: HeartbeatOptions): Heartbeat {
  const { intervalMs, sendPing, onSilent, clock = systemClock } = options
  const unanswered = new Set<string>()
  const timer = clock.setInterval(() => {
    if (unanswered.size >= MAX_UNANSWERED) return onSilent()
    const id = randomUUID()
    unanswered.add(id)
    sendPing(id)
  }, intervalMs)
  return {
    receivePong: (id) => unanswered.delete(id),
    stop: timer.stop,
  }
}
