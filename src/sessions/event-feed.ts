import type { Subscription } from '../events/subscriber.js'
import type { SessionConnection } from './messages.js'

/** Events that are written together. They are far below what a session may have unsent. */
const MAX_WRITTEN = 32

/**
 * Sends the events of a subscription at the pace of the session: what follows is read when little is unsent.
 * @returns never; the promise is rejected with the error of the subscription
 */
export async function feedEvents(
  subscription: Pick<Subscription, 'next'>,
  connection: Pick<SessionConnection, 'send' | 'drained'>,
): Promise<never> {
  for (;;) {
    const batch = await subscription.next()
    for (let start = 0; start < batch.length; start += MAX_WRITTEN) {
      connection.send({ type: 'events', entries: batch.slice(start, start + MAX_WRITTEN) })
      await connection.drained()
    }
  }
}
