import { eventually } from '../../support/eventually.js'
import type { EventMessage, RevertedMessage } from '../../support/streams/event-messages.js'
import type { StreamClient } from '../../support/streams/stream-clients.js'
import { webSocket } from '../../support/streams/transports.js'

export type Subscriber = ReturnType<typeof createSubscriber>

/** A client that follows the event stream over WebSockets and reconnects with its last cursor. */
export function createSubscriber() {
  const earlier: (EventMessage | RevertedMessage)[] = []
  let cursor: string | undefined
  let client: StreamClient | undefined
  const received = () => [...earlier, ...(client?.events() ?? [])]

  return {
    /** All messages about orders so far, over all connections. */
    received,
    /** Connects after the last message, and waits for `connected`. @throws Error when the stream ends before */
    async connect(serviceUrl: string): Promise<void> {
      client = webSocket.open(serviceUrl, cursor === undefined ? {} : { after: cursor })
      await client.connected()
    },
    async disconnect(): Promise<void> {
      client?.leave()
      await client?.ended()
      earlier.push(...(client?.events() ?? []))
      cursor = client?.cursor() || cursor
      client = undefined
    },
    /** Resolves when there are this many messages. */
    untilCount: (count: number) =>
      eventually(
        async () => received().length,
        (length) => length >= count,
      ),
    /** Resolves when the deposit of this order has come. */
    until: (deposited: string) =>
      eventually(
        async () => received(),
        (messages) => messages.some(({ orderId, type }) => orderId === deposited && type === 'Deposited'),
      ),
  }
}
