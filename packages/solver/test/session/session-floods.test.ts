import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../../../test/support/eventually.js'
import { MAX_UNSENT_BYTES } from '../../src/session/session-connection.js'
import { quoteRequest, startSession } from './session-fixture.js'
import type { ServerConnection } from './session-server.js'

/** An instance that sends as much as it likes, and reads nothing. Pongs are short: the buffers of the operating system take 20,000. */
const FLOOD = 100_000
/** What the two sockets of a connection and the pieces in which they are read may hold. */
const SLACK_BYTES = 512 * 1024

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
async function flood({ socket }: ServerConnection, client: Socket, send: (index: number) => void) {
  let mostUnsent = 0
  socket.pause()
  for (let index = 0; index < FLOOD && !client.destroyed && !client.isPaused(); index++) {
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

const PADDING = 125

it.each<[string, ({ socket, send }: ServerConnection, index: number) => void]>([
  ['pings', ({ socket }) => socket.ping(Buffer.alloc(PADDING))],
  ['quote requests', ({ send }, index) => send(quoteRequest(`${index}`.padStart(2 * PADDING)))],
])(
  'a session ends when too many answers wait for an instance that sends %s and does not read',
  async (_, send) => {
    const { instance, client, losses } = await startFloodedSession()
    const mostUnsent = await flood(instance, client, (index) => send(instance, index))
    expect(mostUnsent).toBeLessThan(MAX_UNSENT_BYTES + SLACK_BYTES)
    await expect
      .poll(() => losses.map(({ message }) => message))
      .toEqual(['the instance does not read what it is sent'])
  },
)

it('an instance that sends each connection away keeps two at most', async () => {
  const { instance, opened, server, timers } = await startFloodedSession({ random: 0.5 })
  instance.send({ type: 'goAway', reconnectWithinMs: 0 })
  for (const [index, ms] of [375, 750, 1500].entries()) {
    await expect.poll(timers.waiting).toContain(ms)
    timers.fire(ms)
    ;(await opened(index + 1)).send({ type: 'goAway', reconnectWithinMs: 0 })
  }
  await expect.poll(() => server.connections.map(({ ends }) => ends.length)).toEqual([1, 1, 0, 0])
})
