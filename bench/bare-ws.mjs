// @ts-check
/**
 * The limit for WebSocket clients: a bare `ws` server, run by plain Node. It reads messages as a JSON array,
 * then sends them to all clients at each `go`.
 */
import { createInterface } from 'node:readline'
import { WebSocketServer } from 'ws'

const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
server.on('listening', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  process.stdout.write(`listening ${port}\n`)
})

/** @type {Buffer[]} */
let messages = []
createInterface({ input: process.stdin }).on('line', (line) => {
  if (line !== 'go') {
    messages = /** @type {string[]} */ (JSON.parse(line)).map((text) => Buffer.from(text))
    return
  }
  for (const client of server.clients) for (const message of messages) client.send(message, { binary: false })
})
