import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { eventually } from '../../support/eventually.js'
import { startScene } from '../../support/service/scene.js'
import { countConnections } from '../../support/service/server-connections.js'

const MIB = 1024 * 1024

const { service } = await startScene()

/** A masked frame of a client (RFC 6455, section 5.2), with a mask of zero. */
function frame(opcode: number, payload: Buffer = Buffer.alloc(0), isLast = true): Buffer {
  return Buffer.concat([
    Buffer.from([(isLast ? 0x80 : 0) | opcode, 0x80 | payload.length, 0, 0, 0, 0]),
    payload,
  ])
}

/** Opens a WebSocket on a bare connection, of which nothing is read after the response to the handshake. */
async function openUnread() {
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  onTestFinished(() => void socket.destroy())
  socket.write(
    'GET /v1/ws HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  )
  const [answer] = await once(socket, 'data')
  expect(String(answer)).toMatch(/^HTTP\/1.1 101 /)
  socket.pause()
  return socket
}

describe('a WebSocket client that reads nothing', () => {
  it.each([
    ['empty pings', frame(9)],
    ['long pings', frame(9, Buffer.alloc(125))],
    ['unsolicited pongs', frame(10)],
    ['messages', frame(1)],
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
    const fragment = frame(0, Buffer.from('A'), false)
    socket.write(Buffer.concat([frame(1, Buffer.from('A'), false), ...Array(20).fill(fragment)]))
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
