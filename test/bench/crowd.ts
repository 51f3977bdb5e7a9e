import { once } from 'node:events'
import WebSocket from 'ws'

/** When a broadcast came: Unix-like milliseconds of the first and the last message, and how many there were. */
export interface Delivery {
  readonly firstAt: number
  readonly lastAt: number
  readonly messages: number
}

/** Many WebSocket clients of one server. */
export async function gather(url: string, size: number) {
  const sockets: WebSocket[] = []
  let expected = 0
  let count = 0
  let firstAt = 0
  let onComplete = (_: Delivery) => {}
  const onMessage = () => {
    count++
    if (count === 1) firstAt = performance.now()
    if (count === expected) onComplete({ firstAt, lastAt: performance.now(), messages: count })
  }
  for (let index = 0; index < size; index++) {
    const socket = new WebSocket(url, { perMessageDeflate: false })
    await once(socket, 'open')
    socket.on('message', onMessage)
    sockets.push(socket)
  }
  return {
    /** Resolves when each client has got so many messages, from now on. */
    delivery(messagesEach: number): Promise<Delivery> {
      expected = messagesEach * size
      count = 0
      return new Promise((resolve) => {
        onComplete = resolve
      })
    },
    leave() {
      for (const socket of sockets) socket.terminate()
    },
  }
}
