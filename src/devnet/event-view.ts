import { once } from 'node:events'
import WebSocket from 'ws'
import { followAny } from './follow-any.js'

/** An order event as the service's WebSocket tells it. */
export interface OrderMessage {
  readonly type: string
  readonly orderId: string
  readonly blockNumber: number
}

/** What the service tells everybody of the orders. */
export interface EventView {
  /** All that has come, in its order. */
  readonly messages: readonly OrderMessage[]
  /** The replica that tells of them now, by its base URL. */
  servedBy(): string
  /** Waits until an event of an order has come. @throws Error when it does not come in time */
  waitFor(type: string, orderId: string): Promise<void>
  close(): Promise<void>
}

interface EventViewOptions {
  /** Of the replicas: the next one is taken when one is lost. */
  readonly serviceUrls: readonly string[]
  /** Called with each event as it comes, and where it comes from. */
  readonly onEvent: (event: OrderMessage, servedBy: string) => void
  /** Called when a lost stream goes on at another replica. */
  readonly onMoved?: (servedBy: string) => void
  readonly onError: (error: unknown) => void
}

/** What comes on the WebSocket; the first message tells that it is open. */
type Message = (OrderMessage | { readonly type: 'connected' }) & { readonly cursor: string }

const TIMEOUT_MS = 30_000

/** Follows the service's events on a WebSocket. One that breaks is taken up again where it was, by its cursor. */
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
