import { once } from 'node:events'
import WebSocket from 'ws'

/** An order event as the service's WebSocket tells it. */
interface OrderMessage {
  readonly type: string
  readonly orderId: string
  readonly blockNumber: number
}

/** What the service tells everybody of the orders. */
export interface EventView {
  /** Waits until an event of an order has come. @throws Error when it does not come in time */
  waitFor(type: string, orderId: string): Promise<void>
  close(): void
}

const TIMEOUT_MS = 30_000

/**
 * Follows the service's events on a WebSocket.
 * @param onEvent called with each as it comes
 */
export async function openEventView(
  serviceUrl: string,
  onEvent: (event: OrderMessage) => void,
): Promise<EventView> {
  const socket = new WebSocket(`${serviceUrl.replace(/^http/, 'ws')}/v1/ws`)
  const seen: OrderMessage[] = []
  let look = () => {}
  socket.on('message', (data) => {
    const message: OrderMessage = JSON.parse(data.toString())
    if (message.type === 'connected') return
    seen.push(message)
    onEvent(message)
    look()
  })
  await once(socket, 'open')

  return {
    waitFor: (type, orderId) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`no ${type} of ${orderId} has come`)), TIMEOUT_MS)
        look = () => {
          if (!seen.some((event) => event.type === type && event.orderId === orderId)) return
          clearTimeout(timer)
          resolve()
        }
        look()
      }),
    close: () => socket.terminate(),
  }
}
