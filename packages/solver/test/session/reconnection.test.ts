import { expect, it } from 'vitest'
import { answersOn, quoteRequest, startSession } from './session-fixture.js'
import { HEARTBEAT_MS } from './session-server.js'

const OPENING_MS = 15_000
const DEAD_MS = 2.5 * HEARTBEAT_MS

it('a lost connection is opened again after a time that doubles with each failure', async () => {
  const { connection, timers, losses } = await startSession({ random: 0.5 })
  for (const [index, ms] of [375, 750, 1500].entries()) {
    ;(await connection(index)).socket.terminate()
    await expect.poll(timers.waiting).toEqual([ms])
    expect(losses).toHaveLength(index + 1)
    timers.fire(ms)
  }
  await connection(3)
})

it('a session that lasts for a minute starts the back-off again, and one that does not last continues it', async () => {
  const { opened, timers } = await startSession()
  ;(await opened(0)).socket.terminate()
  await expect.poll(timers.waiting).toEqual([250])
  timers.fire(250)
  const second = await opened(1)
  second.socket.terminate()
  await expect.poll(timers.waiting).toEqual([500])
  timers.fire(500)
  const third = await opened(2)
  timers.fire(60_000)
  third.socket.terminate()
  await expect.poll(timers.waiting).toEqual([250])
})

it('a refused connection is tried again', async () => {
  const { server, opened, timers, losses } = await startSession()
  const instance = await opened(0)
  server.close()
  await expect.poll(() => instance.ends).toHaveLength(1)
  await expect.poll(timers.waiting).toEqual([250])
  timers.fire(250)
  await expect.poll(timers.waiting).toEqual([500])
  expect(losses[1]?.message).toContain('ECONNREFUSED')
})

it('the error of a refused hello names each bad field and what it must be', async () => {
  const { connection, losses } = await startSession()
  const instance = await connection(0)
  instance.challenge()
  const details = [
    { field: 'audience', message: 'must be an origin' },
    { field: 'name', message: 'must be short' },
    'of a later version',
  ]
  instance.send({ type: 'error', error: 'Not valid: see audience, name.', code: 'INVALID_ARGUMENT', details })
  await expect
    .poll(() => losses[0]?.message)
    .toBe('INVALID_ARGUMENT: Not valid: see audience, name. audience must be an origin name must be short')
})

it.each([
  ['INVALID_ARGUMENT', true, false],
  ['A_NEW_CODE', false, false],
  ['SESSION_REPLACED', false, true],
  ['SOLVER_BLOCKED', true, true],
  ['SOLVER_NOT_FOUND', true, true],
  ['INVALID_ARGUMENT', false, true],
  ['SIGNATURE_INVALID', false, true],
  ['AUDIENCE_REJECTED', false, true],
])('after %s, when it was open: %s, the session is given up: %s', async (code, isOpen, isFinal) => {
  const { server, connection, opened, timers, losses, session } = await startSession()
  const instance = await (isOpen ? opened(0) : connection(0))
  if (!isOpen) instance.challenge()
  instance.send({ type: 'error', error: 'no', code })
  await expect.poll(() => losses.map((lost) => [lost.code, lost.isFinal])).toEqual([[code, isFinal]])
  if (!isFinal) {
    timers.fire(250)
    return void (await opened(1))
  }
  expect(timers.waiting()).toEqual([])
  if (!isOpen) await expect(session.start).rejects.toMatchObject({ code })
  await session.close()
  expect(server.connections).toHaveLength(1)
})

it.each([
  [404, 'before a session was open', true],
  [502, 'before a session was open', false],
  [404, 'after one', false],
] as const)(
  'an instance that answers the upgrade with %s, %s, is given up: %s',
  async (status, when, isFinal) => {
    const { server, opened, timers, losses, connection } = await startSession(
      when === 'after one' ? {} : { upgradeStatus: status },
    )
    if (when === 'after one') {
      ;(await opened(0)).socket.terminate()
      server.refuseUpgrades(status)
      await expect.poll(timers.waiting).toEqual([250])
      timers.fire(250)
    }
    await expect
      .poll(() => losses.at(-1)?.message)
      .toContain(String(status === 404 ? 'offers no sessions' : status))
    expect(losses.at(-1)).toMatchObject({
      isFinal,
      code: status === 404 ? 'SESSIONS_NOT_OFFERED' : undefined,
    })
    if (isFinal) return expect(timers.waiting()).toEqual([])
    server.refuseUpgrades(undefined)
    timers.fire(when === 'after one' ? 500 : 250)
    await connection(when === 'after one' ? 1 : 0)
  },
)

it('after goAway, a second connection is opened at a random moment, while the first one still answers', async () => {
  const { opened, timers, losses } = await startSession({ random: 0.3 })
  const first = await opened(0)
  first.send({ type: 'goAway', reconnectWithinMs: 4000 })
  await expect.poll(timers.waiting).toContain(1200)
  timers.fire(1200)
  const second = await opened(1)
  first.send(quoteRequest('last'))
  await expect.poll(() => answersOn(first)).toEqual([{ type: 'decline', id: 'last', code: 'PAUSED' }])
  first.send({ type: 'error', error: 'replaced', code: 'SESSION_REPLACED' })
  await expect.poll(() => first.ends).toHaveLength(1)
  second.send(quoteRequest('next'))
  await expect.poll(() => answersOn(second)).toEqual([{ type: 'decline', id: 'next', code: 'PAUSED' }])
  expect(losses).toEqual([])
})

it('a connection that ends after goAway does not change the moment of the next one', async () => {
  const { opened, timers, losses } = await startSession({ random: 0.3 })
  const first = await opened(0)
  first.send({ type: 'goAway', reconnectWithinMs: 4000 })
  await expect.poll(timers.waiting).toContain(1200)
  first.socket.terminate()
  await expect.poll(timers.waiting).toEqual([1200])
  timers.fire(1200)
  await opened(1)
  expect(losses).toEqual([])
})

it('a connection without a ping for 2.5 heartbeats is destroyed and opened again', async () => {
  const { opened, timers, losses } = await startSession()
  const instance = await opened(0)
  // It would not take part in a close.
  instance.socket.pause()
  timers.fire(DEAD_MS)
  await expect.poll(timers.waiting).toEqual([250])
  expect(losses.map(({ message }) => message)).toEqual(['the instance has sent no ping for 50000 ms'])
  instance.socket.resume()
  await expect.poll(() => instance.ends).toEqual([1006])
})

it('each ping starts the time for the next one', async () => {
  const { opened, timers } = await startSession()
  const instance = await opened(0)
  const isDead = (ms: number) => ms === DEAD_MS
  const before = timers.started.filter(isDead).length
  instance.send({ type: 'ping', id: 'p1' })
  await expect.poll(() => answersOn(instance)).toHaveLength(1)
  expect(timers.started.filter(isDead)).toHaveLength(before + 1)
  expect(timers.waiting().filter(isDead)).toHaveLength(1)
})

it('an instance that does not open the session in time is given up', async () => {
  const { connection, timers, losses } = await startSession()
  const instance = await connection(0)
  timers.fire(OPENING_MS)
  await expect.poll(() => instance.ends).toEqual([1006])
  await expect.poll(() => losses.map(({ isFinal }) => isFinal)).toEqual([false])
})

it('a message of an unknown type is ignored, before and after the opening', async () => {
  const { connection, opened, losses } = await startSession()
  const instance = await connection(0)
  instance.send({ type: 'weather', is: 'fine' })
  await opened(0)
  instance.send({ type: 'weather', is: 'bad' })
  instance.send({ type: 'ping', id: 'p1' })
  await expect.poll(() => answersOn(instance)).toEqual([{ type: 'pong', id: 'p1' }])
  expect(losses).toEqual([])
})

it.each([
  ['text that is not JSON', '{"type":'],
  ['a second challenge', `{"type":"challenge","nonce":"0x${'00'.repeat(32)}","serverTime":1}`],
  ['more than 256 KiB', JSON.stringify({ type: 'ping', id: 'x'.repeat(256 * 1024) })],
])('a connection with %s is destroyed and opened again', async (_, text) => {
  const { opened, timers, losses } = await startSession()
  const instance = await opened(0)
  instance.socket.send(text)
  await expect.poll(() => instance.ends).toHaveLength(1)
  await expect.poll(timers.waiting).toEqual([250])
  expect(losses.map(({ isFinal }) => isFinal)).toEqual([false])
})

it.each([
  ['a quote request', quoteRequest('early')],
  ['ready', { type: 'ready', sessionId: 's', heartbeatMs: 20_000 }],
  ['a nonce that would add lines to the signed text', { type: 'challenge', nonce: '0x00\nChains: 1' }],
])('a connection with %s in place of a challenge is destroyed', async (_, message) => {
  const { connection, losses } = await startSession()
  const instance = await connection(0)
  instance.send(message)
  await expect.poll(() => instance.ends).toHaveLength(1)
  expect(instance.received).toEqual([])
  await expect.poll(() => losses).toHaveLength(1)
})

it('close ends the connection with code 1000, and nothing waits any more', async () => {
  const { server, opened, timers, session } = await startSession()
  const instance = await opened(0)
  await session.close()
  await expect.poll(() => instance.ends).toEqual([1000])
  expect(timers.waiting()).toEqual([])
  expect(server.connections).toHaveLength(1)
})

it('close destroys a connection whose other side does not close', async () => {
  const { opened, timers, session } = await startSession()
  const instance = await opened(0)
  instance.socket.pause()
  await session.close()
  expect(timers.waiting()).toEqual([])
})

it('close ends the wait for the next connection, and a connection that is being made', async () => {
  const { server, connection, timers, session } = await startSession()
  ;(await connection(0)).socket.terminate()
  await expect.poll(timers.waiting).toEqual([250])
  timers.fire(250)
  await session.close()
  expect(timers.waiting()).toEqual([])
  await session.close()
  expect(server.connections.length).toBeLessThanOrEqual(2)
})
