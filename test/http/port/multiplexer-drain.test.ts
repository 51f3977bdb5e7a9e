import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import {
  FIRST_HALF,
  GET,
  openHttp2,
  openSocket,
  request,
  SECOND_HALF,
  startMultiplexer,
} from './multiplexer-server.js'

const LONG_MS = 60_000

describe('draining', () => {
  test('serves connections that the kernel has accepted before', async () => {
    const { number, drain } = await startMultiplexer()
    const waiting = Array.from({ length: 20 }, () => connect(number, '127.0.0.1').on('error', () => {}))
    for (const socket of waiting) socket.write(GET('/a'))
    // They connect in this turn, and are accepted in later ones.
    await new Promise<void>((resolve) => process.nextTick(resolve))
    const answers = waiting.map((socket) => text(socket).catch((error) => error.code))
    await drain(LONG_MS)
    expect(await Promise.all(answers)).toEqual(waiting.map(() => expect.stringContaining('HTTP/1.1 /a ')))
  })

  test('serves a request on an idle connection, which then ends', async () => {
    const { number, drain } = await startMultiplexer()
    const { socket, received, ended, text: textOf } = await openSocket(number)
    socket.write(GET('/a'))
    await received('HTTP/1.1 /a ')
    expect(textOf()).toContain('Connection: keep-alive')
    const drained = drain(LONG_MS)
    socket.write(GET('/b'))
    await Promise.all([drained, ended])
    expect(textOf()).toContain('HTTP/1.1 /b ')
    expect(textOf()).toContain('Connection: close')
  })

  test('lets the open requests of an HTTP/2 session complete, and then ends the session', async () => {
    const { origin, drain, release } = await startMultiplexer()
    const session = openHttp2(origin)
    const slow = request(session, '/slow')
    await slow.started
    const drained = drain(LONG_MS)
    release()
    expect(await slow.body).toBe(FIRST_HALF + SECOND_HALF)
    await drained
  })

  test('serves a request that came while the process stood still over the end of the draining', async () => {
    const { number, drain, close } = await startMultiplexer()
    const { socket, received, ended, text: textOf } = await openSocket(number)
    socket.write(GET('/a'))
    await received('HTTP/1.1 /a ')
    const closed = drain(20).then(close)
    socket.write(GET('/b'))
    standStill(50)
    await Promise.all([closed, ended])
    expect(textOf()).toContain('HTTP/1.1 /b ')
  })

  test('waits at most its timeout for connections without requests', async () => {
    const { number, drain, close } = await startMultiplexer()
    const { socket, received, ended } = await openSocket(number)
    socket.write(GET('/a'))
    await received('HTTP/1.1 /a ')
    await drain(1)
    expect(socket.readyState).toBe('open')
    await Promise.all([close(), ended])
  })
})

/** Nothing of this process runs for a time, as when it is stopped. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
