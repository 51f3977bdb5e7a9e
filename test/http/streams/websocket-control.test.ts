import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { superviseWebSockets } from '../../../src/http/streams/websocket-control.js'

const PING_INTERVAL_MS = 50
/** Several of the server's pings. */
const A_WHILE_MS = 10 * PING_INTERVAL_MS

async function startServer() {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', autoPong: false })
  const stop = superviseWebSockets(server, PING_INTERVAL_MS)
  onTestFinished(() => {
    stop()
    for (const client of server.clients) client.terminate()
    server.close()
  })
  await once(server, 'listening')
  return { server, port: (server.address() as AddressInfo).port }
}

test('a client that answers pings stays connected', async () => {
  const { server, port } = await startServer()
  const client = new WebSocket(`ws://127.0.0.1:${port}`)
  let pings = 0
  client.on('ping', () => pings++)
  await once(client, 'open')
  while (pings < 5) await once(client, 'ping')
  expect(server.clients.size).toBe(1)
})

test('a client that invents pongs and reads no ping is closed', async () => {
  const { server, port } = await startServer()
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(
    'GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  )
  const [client] = await once(server, 'connection')
  const dropped = once(client, 'close', { signal: AbortSignal.timeout(20 * A_WHILE_MS) })
  const pong = Buffer.from([0x8a, 0x88, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8])
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
  const { port } = await startServer()
  const client = new WebSocket(`ws://127.0.0.1:${port}`)
  await once(client, 'open')
  for (let message = 0; message < messages; message++) client.send('x'.repeat(4096))
  // The server looks at what it has received once a second.
  const looked = new Promise<void>((resolve) => {
    let pings = 0
    client.on('ping', () => ++pings === 2000 / PING_INTERVAL_MS && resolve())
  })
  await Promise.race([looked, once(client, 'close')])
  expect(client.readyState !== client.OPEN).toBe(isClosed)
})
