import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { onTestFinished } from 'vitest'

const CHANNEL = 'net.server.socket'

/**
 * Counts the connections that a server in this process accepts from now on.
 * @param whenFinished the test's own hook, for concurrent tests
 * @returns how many of them are open
 */
export function countConnections(url: string, whenFinished = onTestFinished): () => number {
  const port = Number(new URL(url).port)
  const open = new Set<Socket>()
  const onSocket = (message: unknown) => {
    const { socket } = message as { socket: Socket }
    if (socket.localPort !== port) return
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  }
  subscribe(CHANNEL, onSocket)
  whenFinished(() => void unsubscribe(CHANNEL, onSocket))
  return () => open.size
}
