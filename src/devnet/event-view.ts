import { once } from 'node:events'
import WebSocket from 'ws'
import { followAny } from './follow-any.js'

/** An order event in the service's WebSocket messages. */
export interface OrderMessage {
  readonly type: string
  readonly orderId: string
  readonly blockNumber: number
}

/** The order events of the service. */
export interface EventView {
  /** All events so far, in order. */
  readonly messages: readonly OrderMessage[]
  /** The base URL of the replica that sends them now. */
  servedBy(): string
  /** Waits for an event of an order. @throws Error when it does not come in time */
  waitFor(type: string, orderId: string): Promise<void>
  close(): Promise<void>
}

interface EventViewOptions {
  /** The base URLs of the replicas. When one is lost, the next one is used. */
  readonly serviceUrls: readonly string[]
  /** Called with each event and the URL of its replica. */
  readonly onEvent: (event: OrderMessage, servedBy: string) => void
  /** Called when a lost stream continues at another replica. */
  readonly onMoved?: (servedBy: string) => void
  readonly onError: (error: unknown) => void
}

/** A message on the WebSocket. The first one shows that the stream is open. */
type Message = (OrderMessage | { readonly type: 'connected' }) & { readonly cursor: string }

const TIMEOUT_MS = 30_000

/** Follows the service's events on a WebSocket. After a break it continues from its cursor. */
export async function openEventView(options: EventViewOptions): Promise<EventView> {
  const { serviceUrls, onEvent, onMoved, onError } = options
  const messages: OrderMessage[] = []
  let servedBy = ''
  let after: string | undefined
  let look = () => {}

  async function follow(url: string, signal: AbortSignal, onOpen: () => void): Promise<void> {
    const query = after === undefined ? '' : `?${new URLSearchParams({ after })}`
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/ws${query}`)
    const end = () => socket.terminate()
    signal.addEventListener('abort', end)
    socket.on('message', (data) => {
      const message: Message = JSON.parse(data.toString())
      after = message.cursor
      if ('orderId' in message) return take(message)
      if (servedBy !== '' && servedBy !== url) onMoved?.(url)
      servedBy = url
      onOpen()
    })
    await once(socket, 'close').finally(() => signal.removeEventListener('abort', end))
  }

  function take(message: OrderMessage): void {
    messages.push(message)
    onEvent(message, servedBy)
    look()
  }

  const close = await followAny({ urls: serviceUrls, follow, onError })
  return {
    messages,
    servedBy: () => servedBy,
    waitFor: (type, orderId) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`no ${type} of ${orderId} has come`)), TIMEOUT_MS)
        look = () => {
          if (!messages.some((event) => event.type === type && event.orderId === orderId)) return
          clearTimeout(timer)
          resolve()
        }
        look()
      }),
    close,
  }
}
