import { THIS_PROCESS } from '../../src/domain/client.js'
import { EVERY_EVENT, type StreamEvent } from '../../src/domain/event.js'
import type { EventLog } from '../../src/events/event-log.js'
import type { Subscription } from '../../src/events/subscriber.js'
import { settle } from '../events/hub-harness.js'
import type { Random } from '../random.js'

/** A subscriber that leaves at random, and comes back with its last cursor. */
export interface ComingAndGoing {
  /** All that it got, over all its streams. */
  readonly received: readonly StreamEvent[]
  /** Leaves or comes back, now and then. */
  move(): Promise<void>
  /** Comes back if it has left; resolves when nothing more comes. */
  end(): Promise<void>
}

/** Lets a subscriber in that begins where the log begins. */
export async function subscribe(
  eventLog: EventLog,
  firstCursor: string,
  random: Random,
): Promise<ComingAndGoing> {
  const received: StreamEvent[] = []
  let cursor = firstCursor
  let subscription: Subscription | undefined

  async function follow(current: Subscription): Promise<void> {
    while (!current.ended.aborted) {
      for (const entry of await current.next()) {
        // What comes after it has left is nobody's.
        if (subscription !== current) return
        received.push(entry.event)
        cursor = entry.cursor
      }
      await settle(random.integer(0, 3))
    }
  }

  async function connect(): Promise<void> {
    if (subscription !== undefined) return
    await eventLog.waitForCursor(cursor, THIS_PROCESS)
    subscription = eventLog.subscribe(cursor, EVERY_EVENT)
    follow(subscription).catch(() => {})
  }

  function leave(): void {
    subscription?.close()
    subscription = undefined
  }

  await connect()
  return {
    received,
    async move() {
      if (random.integer(0, 2) === 0) leave()
      else await connect()
    },
    async end() {
      await connect()
      let before = -1
      while (before !== received.length) {
        before = received.length
        await settle(50)
      }
    },
  }
}
