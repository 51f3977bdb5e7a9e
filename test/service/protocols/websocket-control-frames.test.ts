import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { startScene } from '../../support/service/scene.js'
import { countConnections } from '../../support/service/server-connections.js'
import { OPCODE, webSocketFrame, webSocketHandshake } from '../../support/streams/raw-websocket.js'

const MOST_BYTES = 16 * 1024 * 1024

const { service } = await startScene()

it('a WebSocket client that reads nothing, and sends pings without end, is dropped', async () => {
  const open = countConnections(service.url)
  const many = Buffer.concat(Array.from({ length: 2000 }, () => webSocketFrame(OPCODE.ping)))
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname).on('error', () => {})
  onTestFinished(() => void socket.destroy())
  socket.write(webSocketHandshake('/v1/ws'))
  expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1.1 101 /)
  socket.pause()
  for (let sent = 0; open() > 0 && sent < MOST_BYTES; sent += many.length) {
    await new Promise<void>((resolve) => void socket.write(many, () => resolve()))
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(open()).toBe(0)
})
