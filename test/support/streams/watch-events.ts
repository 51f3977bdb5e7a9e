import { once } from 'node:events'
import { WebSocket } from 'ws'
import { type HealthMessage, isEvent, type StreamMessage } from './event-messages.js'

export type EventWatch = Awaited<ReturnType<typeof watchEvents>>

/** A client of `GET /v1/ws` that keeps its messages. @param query such as `?after=…` */
export async function watchEvents({ url }: { url: string }, query = '') {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/ws${query}`)
  const messages: StreamMessage[] = []
  const listeners = new Set<() => void>()
  let onMessage = (_message: StreamMessage) => {}
  let closeCode: number | undefined
  const notify = () => {
    for (const listener of listeners) listener()
  }
  socket.on('message', (data) => {
    const message: StreamMessage = JSON.parse(data.toString())
    messages.push(message)
    onMessage(message)
    notify()
  })
  socket.on('close', (code) => {
    closeCode = code
    notify()
  })
  await once(socket, 'open')

  /** Resolves when the messages, or the close code, are as wanted. */
  function until(isReached: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (!isReached()) return
        listeners.delete(check)
        resolve()
      }
      listeners.add(check)
      check()
    })
  }

  const events = () => messages.filter(isEvent)
  await until(() => messages.length > 0 || closeCode !== undefined)

  return {
    /** The messages about orders. */
    events,
    /** The events, as type and order. */
    types: () => events().map(({ type, orderId }) => `${type} ${orderId}`),
    /** The cursor of the last message. */
    cursor: () => messages.at(-1)?.cursor ?? '',
    untilCount: (count: number) => until(() => events().length >= count),
    /** The first message about the chains. */
    async health(): Promise<HealthMessage> {
      const isHealth = (message: StreamMessage) => message.type === 'Health'
      await until(() => messages.some(isHealth))
      return messages.find(isHealth) as HealthMessage
    },
    /** The close code of the service. */
    async closed(): Promise<number | undefined> {
      await until(() => closeCode !== undefined)
      return closeCode
    },
    /** Calls a listener with each message as it comes. */
    onMessage(listener: (message: StreamMessage) => void) {
      onMessage = listener
    },
    close: () => socket.terminate(),
  }
}
