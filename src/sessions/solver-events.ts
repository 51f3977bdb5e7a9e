import { EVERY_EVENT } from '../../packages/protocol/src/orders/event.js'
import type { ClientId } from '../clients/client-id.js'
import type { EventLog } from '../events/event-log.js'
import type { Subscription } from '../events/subscriber.js'
import type { Hello, SessionConnection } from './messages.js'

/**
 * Subscribes to the events of a solver's orders on the chains of its hello, if the hello asks for them. It takes no slot
 * of a stream: the solvers' bonds bound the sessions, and a flood of streams must not keep a solver from its session.
 * Its replays count for its client.
 * @throws ServiceError CURSOR_UNKNOWN, DATABASE_UNAVAILABLE or SHUTTING_DOWN
 */
export async function subscribeForSolver(
  eventLog: Pick<EventLog, 'subscribe' | 'waitForCursor'>,
  { address, chainIds, events }: Hello,
  client: ClientId,
): Promise<Subscription | undefined> {
  if (events === undefined) return undefined
  await eventLog.waitForCursor(events.after, client)
  const filter = { ...EVERY_EVENT, chainIds: new Set(chainIds), solvers: new Set([address]) }
  return eventLog.subscribe(events.after, filter, { client })
}

/** Events that are written together. They are far below what a session may have unsent. */
const MAX_WRITTEN = 32

/**
 * Sends the events of a subscription at the pace of the session: what follows is read when little is unsent.
 * @returns never; the promise is rejected with the error of the subscription
 */
export async function feedEvents(subscription: Subscription, connection: SessionConnection): Promise<never> {
  for (;;) {
    const batch = await subscription.next()
    for (let start = 0; start < batch.length; start += MAX_WRITTEN) {
      connection.send({ type: 'events', entries: batch.slice(start, start + MAX_WRITTEN) })
      await connection.drained()
    }
  }
}
