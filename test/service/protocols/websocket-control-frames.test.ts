import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { eventually } from '../../support/eventually.js'
import { startScene } from '../../support/service/scene.js'
import { countConnections } from '../../support/service/server-connections.js'
import { OPCODE, webSocketFrame, webSocketHandshake } from '../../support/streams/raw-websocket.js'

const MIB = 1024 * 1024

const { service } = await startScene()

/** Opens a WebSocket on a bare connection, of which nothing is read after the response to the handshake. */
async function openUnread() {
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  onTestFinished(() => void socket.destroy())
  socket.write(webSocketHandshake('/v1/ws'))
  const [answer] = await once(socket, 'data')
  expect(String(answer)).toMatch(/^HTTP\/1.1 101 /)
  socket.pause()
  return socket
}

describe('a WebSocket client that reads nothing', () => {
  it.each([
    ['empty pings', webSocketFrame(OPCODE.ping)],
    ['long pings', webSocketFrame(OPCODE.ping, Buffer.alloc(125))],
    ['unsolicited pongs', webSocketFrame(OPCODE.pong)],
    ['messages', webSocketFrame(OPCODE.text)],
  ])('and sends %s without end is dropped, and takes no memory', async (_what, one) => {
    const open = countConnections(service.url)
    const many = Buffer.concat(Array.from({ length: 2000 }, () => one))
    const socket = await openUnread()
    const before = process.memoryUsage().rss
    let sent = 0
    // Without the limit, memory grew by many times of what was sent.
    while (open() > 0 && sent < 16 * MIB) {
      sent += many.length
      await new Promise<void>((resolve) => void socket.write(many, () => resolve()))
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(open()).toBe(0)
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * MIB)
  })
})

describe('a WebSocket client that never ends its message is dropped', () => {
  it('after a few fragments', async () => {
    const open = countConnections(service.url)
    const socket = await openUnread()
    const fragment = webSocketFrame(OPCODE.continuation, 'A', false)
    socket.write(Buffer.concat([webSocketFrame(OPCODE.text, 'A', false), ...Array(20).fill(fragment)]))
    socket.resume()
    await eventually(
      async () => open(),
      (left) => left === 0,
    )
  })
})

it('a WebSocket client that pings now and then gets its pongs', async () => {
  const socket = new WebSocket(`${service.url.replace('http', 'ws')}/v1/ws`)
  onTestFinished(() => socket.terminate())
  await once(socket, 'open')
  for (const text of ['a', 'b', 'c'.repeat(125)]) {
    socket.ping(text)
    const [data] = await once(socket, 'pong')
    expect(String(data)).toBe(text)
  }
})

it('of concurrent pings, the last one is answered', async () => {
  const socket = new WebSocket(`${service.url.replace('http', 'ws')}/v1/ws`)
  onTestFinished(() => socket.terminate())
  await once(socket, 'open')
  const pongs: string[] = []
  socket.on('pong', (data) => pongs.push(String(data)))
  for (let ping = 0; ping < 20; ping++) socket.ping(String(ping))
  await expect.poll(() => pongs, { message: 'pongs' }).toContain('19')
})
