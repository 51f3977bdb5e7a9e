import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../../../test/support/eventually.js'
import { MAX_UNSENT_BYTES } from '../../src/session/bounded-sender.js'
import { quoteRequest, startSession } from './session-fixture.js'
import type { ServerConnection } from './session-server.js'

/** An instance that sends as much as it likes, and reads nothing. */
const FLOOD = 20_000
/** Pongs are short: the buffers of the operating system take 20,000. */
const PINGS = 100_000
/** What the two sockets of a connection and the pieces in which they are read may hold. */
const SLACK_BYTES = 512 * 1024
const PING_BYTES = 125

/** Starts a session, and the client's sockets, of which the last one is its newest. */
async function startFloodedSession(options: Parameters<typeof startSession>[0] = {}) {
  const sockets: Socket[] = []
  const onSocket = (message: unknown) => sockets.push((message as { socket: Socket }).socket)
  subscribe('net.client.socket', onSocket)
  onTestFinished(() => void unsubscribe('net.client.socket', onSocket))
  const started = await startSession(options)
  const instance = await started.opened(0)
  const client = sockets.find(({ remotePort }) => started.server.url.endsWith(`:${remotePort}`)) as Socket
  return { ...started, instance, client }
}

/** Sends one after the other, so that the test's own process keeps little. @returns the most bytes that the client kept unsent */
async function flood(
  { socket }: ServerConnection,
  client: Socket,
  send: (index: number) => void,
  count = FLOOD,
) {
  let mostUnsent = 0
  socket.pause()
  for (let index = 0; index < count && !client.destroyed && !client.isPaused(); index++) {
    send(index)
    while (socket.bufferedAmount > SLACK_BYTES && !client.destroyed && !client.isPaused())
      await new Promise((resolve) => setImmediate(resolve))
    mostUnsent = Math.max(mostUnsent, client.writableLength)
  }
  await eventually(
    async () => socket.bufferedAmount === 0 || client.destroyed || client.isPaused(),
    (isOver) => isOver,
  )
  return Math.max(mostUnsent, client.writableLength)
}

it('one pong at most waits for an instance that sends pings and does not read', async () => {
  const { instance, client, losses } = await startFloodedSession()
  const payload = Buffer.alloc(PING_BYTES)
  expect(await flood(instance, client, () => instance.socket.ping(payload), PINGS)).toBeLessThan(
    2 * PING_BYTES,
  )
  expect(losses).toEqual([])
})

it('the last of several pings is answered once the instance reads', async () => {
  const { instance, client } = await startFloodedSession()
  const pongs: string[] = []
  instance.socket.on('pong', (data) => pongs.push(data.toString()))
  await flood(instance, client, (index) => instance.socket.ping(String(index)))
  instance.socket.resume()
  await expect.poll(() => pongs.at(-1)).toBe(String(FLOOD - 1))
})

it.each([
  ['pings as messages', (index: number) => ({ type: 'ping', id: `${index}`.padStart(250) })],
  ['quote requests', (index: number) => quoteRequest(`${index}`.padStart(250))],
])(
  'a session ends when too many answers wait for an instance that sends %s and does not read',
  async (_, message) => {
    const { instance, client, losses } = await startFloodedSession()
    const mostUnsent = await flood(instance, client, (index) => instance.send(message(index)))
    expect(mostUnsent).toBeLessThan(MAX_UNSENT_BYTES + SLACK_BYTES)
    await expect
      .poll(() => losses.map(({ message }) => message))
      .toEqual(['the instance does not read what it is sent'])
  },
)

it('an instance that sends each connection away keeps two at most', async () => {
  const { instance, opened, server, timers } = await startFloodedSession({ random: 0.5 })
  instance.send({ type: 'goAway', reconnectWithinMs: 0 })
  for (const [index, ms] of [50, 100, 200].entries()) {
    await expect.poll(timers.waiting).toContain(ms)
    timers.fire(ms)
    ;(await opened(index + 1)).send({ type: 'goAway', reconnectWithinMs: 0 })
  }
  await expect.poll(() => server.connections.map(({ ends }) => ends.length)).toEqual([1, 1, 0, 0])
})
