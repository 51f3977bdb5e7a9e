import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { superviseWebSockets } from '../../../src/http/streams/websocket-control.js'
import { OPCODE, webSocketFrame, webSocketHandshake } from '../../support/streams/raw-websocket.js'

const PING_INTERVAL_MS = 50
const HOUR_MS = 3_600_000
/** Several of the server's pings. */
const A_WHILE_MS = 10 * PING_INTERVAL_MS

/** The time passes only when a test says so: a busy machine must not look like a silent client, nor like a second one. */
function stopTime(): void {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
}

async function startServer(pingIntervalMs = PING_INTERVAL_MS) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  const stop = superviseWebSockets(server, pingIntervalMs)
  onTestFinished(() => {
    stop()
    for (const client of server.clients) client.terminate()
    server.close()
  })
  await once(server, 'listening')
  return { server, port: (server.address() as AddressInfo).port }
}

test('a client that answers pings stays connected', async () => {
  stopTime()
  const { server, port } = await startServer()
  const client = new WebSocket(`ws://127.0.0.1:${port}`)
  const [ofServer] = await once(server, 'connection')
  await once(client, 'open')
  for (let ping = 0; ping < 5; ping++) {
    const answered = once(ofServer, 'pong')
    vi.advanceTimersByTime(PING_INTERVAL_MS)
    await answered
  }
  expect(server.clients.size).toBe(1)
})

test('a client that invents pongs and reads no ping is closed', async () => {
  const { server, port } = await startServer()
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(webSocketHandshake('/'))
  const [client] = await once(server, 'connection')
  const dropped = once(client, 'close', { signal: AbortSignal.timeout(20 * A_WHILE_MS) })
  const pong = webSocketFrame(OPCODE.pong, '12345678')
  const timer = setInterval(() => socket.write(pong), PING_INTERVAL_MS)
  onTestFinished(() => {
    clearInterval(timer)
    socket.destroy()
  })
  await dropped
})

test.each([
  [2, 'stays connected', false],
  [3, 'is closed', true],
])('a client that sends %i messages of 4 KiB in a second %s', async (messages, _, isClosed) => {
  stopTime()
  const { server, port } = await startServer(HOUR_MS)
  const client = new WebSocket(`ws://127.0.0.1:${port}`)
  const [ofServer] = await once(server, 'connection')
  await once(client, 'open')
  for (let message = 0; message < messages; message++) {
    const received = once(ofServer, 'message')
    client.send('x'.repeat(4096))
    await received
  }
  // The server looks at what it has received once a second.
  vi.advanceTimersByTime(1000)
  expect(ofServer.readyState !== ofServer.OPEN).toBe(isClosed)
})

test.each([
  ['pings', 'ping', 'ping'],
  ['pongs', 'pong', 'pong'],
  ['messages', 'send', 'message'],
] as const)(
  'a client that sends 50 %s in a second stays connected, and one more closes it',
  async (_, send, event) => {
    stopTime()
    const { server, port } = await startServer(HOUR_MS)
    const client = new WebSocket(`ws://127.0.0.1:${port}`)
    const [ofServer] = await once(server, 'connection')
    await once(client, 'open')
    for (let frame = 0; frame < 50; frame++) {
      const received = once(ofServer, event)
      client[send]('x')
      await received
    }
    expect(ofServer.readyState).toBe(ofServer.OPEN)
    const last = once(ofServer, event)
    client[send]('x')
    await last
    expect(ofServer.readyState).not.toBe(ofServer.OPEN)
  },
)
