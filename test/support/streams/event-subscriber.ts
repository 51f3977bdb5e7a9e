import { once } from 'node:events'
import { WebSocket } from 'ws'
import { eventually } from '../eventually.js'
import { type EventMessage, isEvent, type RevertedMessage, type StreamMessage } from './event-messages.js'

export type Subscriber = ReturnType<typeof createSubscriber>

/** The messages after `connected`. */
export type OrderMessage = EventMessage | RevertedMessage

/** A client that follows the event stream over WebSockets and reconnects with its last cursor. */
export function createSubscriber() {
  const received: OrderMessage[] = []
  let cursor: string | undefined
  let socket: WebSocket | undefined

  function take(message: StreamMessage): void {
    if (message.cursor === undefined)
      throw new Error(`a message without a cursor: ${JSON.stringify(message)}`)
    cursor = message.cursor
    if (isEvent(message)) received.push(message)
  }

  return {
    /** All messages so far, over all connections. */
    received: received as readonly OrderMessage[],
    /** The cursor of the last message. */
    cursor: () => cursor,
    /**
     * Connects after the last message or a given cursor, and waits for `connected`.
     * @throws Error when the stream is rejected, or the service is not there
     */
    async connect(serviceUrl: string, after = cursor): Promise<void> {
      const query = new URLSearchParams(after === undefined ? {} : { after })
      const opened = new WebSocket(`${serviceUrl.replace('http', 'ws')}/v1/ws?${query}`)
      socket = opened
      opened.on('error', () => {})
      opened.on('message', (data) => take(JSON.parse(data.toString())))
      await new Promise<void>((resolve, reject) => {
        opened.once('message', () => resolve())
        opened.once('close', (code, reason) => reject(new Error(`the stream was closed: ${code} ${reason}`)))
      })
    },
    /** Disconnects without a closing handshake. */
    async disconnect(): Promise<void> {
      if (socket === undefined || socket.readyState === WebSocket.CLOSED) return
      const closed = once(socket, 'close')
      socket.terminate()
      await closed
    },
    /** Resolves when there are this many messages. */
    untilCount: (count: number) =>
      eventually(
        async () => received.length,
        (length) => length >= count,
      ),
    /** Resolves when an event of this order and type has come. */
    until: (orderId: string, type: OrderMessage['type'] = 'Deposited') =>
      eventually(
        async () => received,
        (messages) => messages.some((message) => message.orderId === orderId && message.type === type),
      ),
  }
}

/** Messages without their cursors, which the chain does not have. */
export function withoutCursors(messages: readonly OrderMessage[]): Omit<OrderMessage, 'cursor'>[] {
  return messages.map(({ cursor: _, ...message }) => message)
}

/** The messages that remove these events, without cursors: the latest first. */
export function reversionsOf(events: readonly EventMessage[]): RevertedMessage[] {
  return events
    .toReversed()
    .map(({ type, chainId, orderId, blockNumber, transactionHash, logIndex, blockTime }) => ({
      type: 'Reverted',
      chainId,
      orderId,
      event: type,
      blockNumber,
      transactionHash,
      logIndex,
      blockTime,
    }))
}

/** The first place where two long lists differ, if any: a comparison of both would not be readable. */
export function firstDifference(received: readonly object[], expected: readonly object[]) {
  const length = Math.max(received.length, expected.length)
  for (let place = 0; place < length; place++) {
    const [got, wanted] = [received[place], expected[place]]
    if (JSON.stringify(sorted(got)) !== JSON.stringify(sorted(wanted))) {
      return { place, got, wanted, received: received.length, expected: expected.length }
    }
  }
  return undefined
}

function sorted(message: object = {}) {
  return Object.entries(message).sort(([a], [b]) => (a < b ? -1 : 1))
}
