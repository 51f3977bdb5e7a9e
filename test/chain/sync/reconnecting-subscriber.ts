import { EVERY_EVENT, type StreamEvent } from '../../../packages/protocol/src/orders/event.js'
import type { EventLog } from '../../../src/events/event-log.js'
import type { Subscription } from '../../../src/events/subscriber.js'
import { settle } from '../../events/hub-harness.js'
import type { Random } from '../../support/random.js'

/** A subscriber that disconnects at random, and reconnects with its last cursor. */
export interface ReconnectingSubscriber {
  /** All events that it received, over all its streams. */
  readonly received: readonly StreamEvent[]
  /** Disconnects or reconnects at random. */
  move(): Promise<void>
  /** Reconnects if needed, and resolves when no more events come. */
  end(): Promise<void>
}

/** Creates a subscriber that begins where the log begins. */
export async function subscribe(
  eventLog: EventLog,
  firstCursor: string,
  random: Random,
): Promise<ReconnectingSubscriber> {
  const received: StreamEvent[] = []
  let cursor = firstCursor
  let subscription: Subscription | undefined

  async function follow(current: Subscription): Promise<void> {
    while (!current.ended.aborted) {
      for (const entry of await current.next()) {
        // Events after the disconnection do not count.
        if (subscription !== current) return
        received.push(entry.event)
        cursor = entry.cursor
      }
      await settle(random.integer(0, 3))
    }
  }

  async function connect(): Promise<void> {
    if (subscription !== undefined) return
    await eventLog.waitForCursor(cursor)
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
