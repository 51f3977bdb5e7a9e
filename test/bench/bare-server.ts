/** The limit for a broadcast: a bare `ws` server. Reads messages as a JSON array, then sends them all at each `go`. */

import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { WebSocketServer } from 'ws'

const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
server.on('listening', () => {
  process.stdout.write(`listening ${(server.address() as AddressInfo).port}\n`)
})

let messages: Buffer[] = []
createInterface({ input: process.stdin }).on('line', (line) => {
  if (line !== 'go') {
    messages = (JSON.parse(line) as string[]).map((text) => Buffer.from(text))
    return
  }
  for (const client of server.clients) for (const message of messages) client.send(message, { binary: false })
})
