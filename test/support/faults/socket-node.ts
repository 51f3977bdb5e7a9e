import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { WebSocketServer } from 'ws'

/** What a node sends for a call; nothing when undefined. */
export type SocketAnswer = (call: { id: number; method: string }) => string | Buffer | undefined

/** A JSON-RPC node over WebSocket whose messages a test can write byte by byte. */
export async function startSocketNode(rpcUrl: string) {
  let answer: SocketAnswer | undefined
  let held: (() => Promise<void>)[] = []
  const headers = { 'content-type': 'application/json' }
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  const streams = new Set<Socket>()
  server.on('connection', (socket, request) => {
    streams.add(request.socket)
    socket.on('message', async (data) => {
      const body = data.toString()
      const pass = async () => (await fetch(rpcUrl, { method: 'POST', headers, body })).text()
      const message = answer === undefined ? await pass() : answer(JSON.parse(body))
      if (message !== undefined) socket.send(message, { binary: false })
      else held.push(async () => socket.send(await pass()))
    })
  })
  await once(server, 'listening')
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Answers all calls in this way from now on, or as the node does when undefined. */
    answerWith(next: SocketAnswer | undefined) {
      answer = next
    },
    /** Sends a message that answers no call. */
    send(message: string) {
      for (const socket of server.clients) socket.send(message)
    },
    /** Sends the close frame of RFC 6455, and leaves the connections open. */
    closeHalf() {
      for (const stream of streams) stream.pause().write(Buffer.from([0x88, 0x00]))
    },
    /** Lets the node answer the calls that got no answer. */
    answerHeld() {
      for (const send of held) void send()
      held = []
    },
    close() {
      for (const socket of server.clients) socket.terminate()
      server.close()
    },
  }
}
