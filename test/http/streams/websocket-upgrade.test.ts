import { once } from 'node:events'
import type { Socket } from 'node:net'
import Fastify, { type onRequestHookHandler } from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { createMultiplexer } from '../../../src/http/port/multiplexer.js'
import { superviseUpgrades } from '../../../src/http/server.js'
import { registerWebSocketUpgrades } from '../../../src/http/streams/websocket-upgrade.js'
import { countConnections } from '../../support/service/server-connections.js'
import { OPCODE, webSocketFrame, webSocketHandshake } from '../../support/streams/raw-websocket.js'
import { openSocket } from '../port/multiplexer-server.js'

const WHOLE_TEST_MS = 60_000
const UPGRADE = webSocketHandshake('/ws')

const REJECT: onRequestHookHandler = (_request, _reply, done) => done(new Error('rejected'))
const NEVER_ANSWER: onRequestHookHandler = () => {}
const STAY = () => {}
const FIN = (socket: Socket) => void socket.end()
const RST = (socket: Socket) => void socket.resetAndDestroy()

/** A server with a WebSocket at `/ws`, and a hook of the root scope before it. */
async function startWebSockets(rootHook: onRequestHookHandler, timeoutMs: number) {
  const server = Fastify({
    serverFactory: (handler) =>
      createMultiplexer(handler, { isWebSocketPath: (path) => path === '/ws' }).server,
  })
  const upgrades = superviseUpgrades(server, timeoutMs)
  server.addHook('onRequest', rootHook)
  await server.register(async (scope) => {
    await registerWebSocketUpgrades(scope, upgrades)
    scope.get('/ws', { websocket: true }, (socket) => {
      socket.on('message', (data) => socket.send(data))
    })
  })
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  onTestFinished(() => server.close())
  return { number: Number(new URL(url).port), openConnections: countConnections(url) }
}

test.each([
  ['stays', STAY],
  ['leaves by FIN', FIN],
  ['leaves by RST', RST],
])('an upgrade that a root hook rejects releases its connection when the client %s', async (_how, leave) => {
  const { number, openConnections } = await startWebSockets(REJECT, WHOLE_TEST_MS)
  const { socket, received } = await openSocket(number)
  socket.on('error', () => {}).write(UPGRADE)
  await received('HTTP/1.1 500 ')
  leave(socket)
  await expect.poll(() => openConnections()).toBe(0)
})

test.each([
  ['when the client ends it', FIN, WHOLE_TEST_MS],
  ['when the client resets it', RST, WHOLE_TEST_MS],
  ['after the time-out', STAY, 50],
])('an upgrade without a response releases its connection %s', async (_when, leave, timeoutMs) => {
  let arrive = () => {}
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve
  })
  const { number, openConnections } = await startWebSockets((...request) => {
    arrive()
    NEVER_ANSWER.apply(request[0].server, request)
  }, timeoutMs)
  const { socket, ended } = await openSocket(number)
  ended.catch(() => {})
  socket.on('error', () => {}).write(UPGRADE)
  await arrived
  leave(socket)
  await expect.poll(() => openConnections()).toBe(0)
})

test('an open WebSocket keeps its connection after the timeout', async () => {
  let requests = 0
  const answerFirst: onRequestHookHandler = (_request, _reply, done) => void (requests++ === 0 && done())
  const { number, openConnections } = await startWebSockets(answerFirst, 50)
  const { socket, received } = await openSocket(number)
  socket.write(UPGRADE)
  await received('101 Switching Protocols')
  // One that came later, and gets no answer, has reached the timeout.
  const later = await openSocket(number)
  later.ended.catch(() => {})
  const closed = once(
    later.socket.on('error', () => {}),
    'close',
  )
  later.socket.write(UPGRADE)
  await closed
  socket.write(Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69]))
  await received('hi')
  await expect.poll(() => openConnections()).toBe(1)
  socket.destroy()
  await once(socket, 'close')
})

test('a message in more than 8 fragments closes its WebSocket', async () => {
  const { number } = await startWebSockets((_request, _reply, done) => done(), WHOLE_TEST_MS)
  const { socket, received, text } = await openSocket(number)
  socket.write(UPGRADE)
  await received('101 Switching Protocols')
  const first = webSocketFrame(OPCODE.text, 'A', false)
  const next = webSocketFrame(OPCODE.continuation, 'A', false)
  socket.write(Buffer.concat([first, ...Array(7).fill(next), webSocketFrame(OPCODE.ping, 'eighth')]))
  await received('eighth')
  const answered = once(socket, 'data')
  socket.write(Buffer.concat([next, webSocketFrame(OPCODE.ping, 'ninth')]))
  await answered
  expect(text()).not.toContain('ninth')
})
