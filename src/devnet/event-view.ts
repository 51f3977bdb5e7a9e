import WebSocket from 'ws'

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
  /** Waits for an event of an order. @throws Error when it does not come in time */
  waitFor(type: string, orderId: string): Promise<void>
  close(): Promise<void>
}

interface EventViewOptions {
  readonly serviceUrl: string
  /** Called with each event. */
  readonly onEvent: (event: OrderMessage) => void
  /** Called when the stream is lost. */
  readonly onError: (error: unknown) => void
}

/** A message on the WebSocket. The first one shows that the stream is open. */
type Message = OrderMessage | { readonly type: 'connected' }

const TIMEOUT_MS = 30_000

/** Follows the service's events on a WebSocket, until it breaks. @returns when the stream is open */
export async function openEventView({ serviceUrl, onEvent, onError }: EventViewOptions): Promise<EventView> {
  const messages: OrderMessage[] = []
  let look = () => {}
  const socket = new WebSocket(`${serviceUrl.replace(/^http/, 'ws')}/v1/ws`)
  await new Promise<void>((resolve, reject) => {
    socket.on('error', reject)
    socket.on('message', (data) => {
      const message: Message = JSON.parse(data.toString())
      if (!('orderId' in message)) return resolve()
      messages.push(message)
      onEvent(message)
      look()
    })
  })
  const onClose = () => onError(new Error('the connection was closed'))
  socket.on('error', onError)
  socket.on('close', onClose)

  async function close(): Promise<void> {
    socket.off('close', onClose)
    socket.terminate()
  }

  return {
    messages,
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
