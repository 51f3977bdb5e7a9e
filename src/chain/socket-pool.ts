import { WebSocket } from 'ws'

/** Open WebSockets to one URL, each for one user at a time. */
export interface SocketPool {
  /**
   * Takes an open socket, or waits for a new one. A socket that opens after its user has left waits for the next one.
   * @throws Error when it cannot be opened, or the signal is aborted
   */
  take(signal: AbortSignal): Promise<WebSocket>
  /** Gives a socket back, open or closed. */
  giveBack(socket: WebSocket): void
  /** Closes all sockets, and opens no more. */
  close(): void
}

interface Waiting {
  resolve(socket: WebSocket): void
  reject(error: Error): void
}

/** A socket that nobody has used for this time is closed. */
const IDLE_MS = 30_000

/**
 * Builds the pool. It has no limit of its own: there are never more sockets than users were there at the same time.
 * @param connect begins to open a socket
 */
export function createSocketPool(connect: () => WebSocket): SocketPool {
  const sockets = new Set<WebSocket>()
  const idle = new Map<WebSocket, NodeJS.Timeout>()
  const waiting = new Set<Waiting>()
  let opening = 0
  let isClosed = false

  function open(): void {
    const socket = connect()
    opening++
    sockets.add(socket)
    let hasOpened = false
    socket.once('open', () => {
      hasOpened = true
      opening--
      giveBack(socket)
    })
    // The event `close` follows each error. A socket in use has a second listener.
    socket.on('error', () => socket.terminate())
    socket.once('close', () => {
      sockets.delete(socket)
      clearTimeout(idle.get(socket))
      idle.delete(socket)
      if (hasOpened) return
      opening--
      firstWaiting()?.reject(new Error('the WebSocket cannot be opened'))
    })
  }

  function firstWaiting(): Waiting | undefined {
    const [first] = waiting
    if (first !== undefined) waiting.delete(first)
    return first
  }

  /** The idle socket that was used last. The peer may have closed its side of others. */
  function takeIdle(): WebSocket | undefined {
    for (const [socket, timer] of [...idle].reverse()) {
      clearTimeout(timer)
      idle.delete(socket)
      if (socket.readyState === WebSocket.OPEN) return socket
      socket.terminate()
    }
    return undefined
  }

  function giveBack(socket: WebSocket): void {
    if (socket.readyState !== WebSocket.OPEN) return
    const next = firstWaiting()
    if (next !== undefined) next.resolve(socket)
    else idle.set(socket, setTimeout(() => socket.terminate(), IDLE_MS).unref())
  }

  return {
    async take(signal) {
      if (isClosed) throw new Error('the service is closing')
      const socket = takeIdle()
      if (socket !== undefined) return socket
      return new Promise((resolve, reject) => {
        const onAbort = () => {
          waiting.delete(user)
          user.reject(new Error('the call was ended'))
        }
        const withoutListener = <T>(settle: (value: T) => void) => {
          return (value: T) => {
            signal.removeEventListener('abort', onAbort)
            settle(value)
          }
        }
        const user = { resolve: withoutListener(resolve), reject: withoutListener(reject) }
        signal.addEventListener('abort', onAbort)
        waiting.add(user)
        if (signal.aborted) onAbort()
        else if (opening < waiting.size) open()
      })
    },
    giveBack,
    close() {
      isClosed = true
      for (const socket of sockets) socket.terminate()
    },
  }
}
