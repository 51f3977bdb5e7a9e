import { once } from 'node:events'
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2 } from 'node:http2'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createMultiplexer } from '../../../src/http/port/multiplexer.js'
import { DEFAULT_TIMEOUTS } from '../../../src/http/port/slow-clients.js'
import {
  FIRST_HALF,
  GET,
  openHttp2,
  openSocket,
  request,
  SECOND_HALF,
  startMultiplexer,
} from './multiplexer-server.js'

describe('one port', () => {
  test.each([1, 2, 3, 10])('accepts HTTP/2 whose first packet has %i bytes', async (length) => {
    const { number, hasRead } = await startMultiplexer()
    const { socket, received } = await openSocket(number)
    const emptySettings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])
    const beginning = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), emptySettings])
    socket.setNoDelay().write(beginning.subarray(0, length))
    await hasRead(length)
    socket.write(beginning.subarray(length))
    await received('\u0004')
  })

  test.each([1, 2, 3, 10])('accepts HTTP/1.1 whose first packet has %i bytes', async (length) => {
    const { number, hasRead } = await startMultiplexer()
    const { socket, received } = await openSocket(number)
    const text = GET('/a').replace('GET', 'PUT')
    socket.setNoDelay().write(text.slice(0, length))
    await hasRead(length)
    socket.write(text.slice(length))
    await received('HTTP/1.1 /a ')
  })
})

describe('a long response over HTTP/2', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  /** Opens `/slow`, and waits until the server has read the request. */
  async function openSlow(session: ClientHttp2Session, open: () => ClientHttp2Stream) {
    const stream = open()
    let text = ''
    stream.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
    })
    stream.on('error', () => {})
    await once(stream, 'data')
    await new Promise((resolve) => session.ping(resolve))
    return { body: once(stream, 'close').then(() => text) }
  }

  const GET_SLOW = { ':path': '/slow', ':method': 'GET' }
  const POST_SLOW = { ':path': '/slow', ':method': 'POST' }

  test.each<[string, (session: ClientHttp2Session) => ClientHttp2Stream]>([
    ['has no body', (session) => session.request(GET_SLOW)],
    ['has an empty body', (session) => session.request(GET_SLOW, { endStream: false }).end()],
    ['has a body that the server does not read', (session) => session.request(POST_SLOW).end('body')],
  ])('is not cut by the timeout of a request when the request %s', async (_what, open) => {
    const { origin, release } = await startMultiplexer()
    const session = openHttp2(origin)
    const { body } = await openSlow(session, () => open(session))
    vi.advanceTimersByTime(60_000)
    release()
    expect((await body).endsWith(SECOND_HALF)).toBe(true)
  })

  test('is cut by the timeout of a request when its body never ends', async () => {
    const { origin } = await startMultiplexer()
    const session = openHttp2(origin)
    const { body } = await openSlow(session, () => {
      const stream = session.request(POST_SLOW)
      stream.write('body')
      return stream
    })
    vi.advanceTimersByTime(15_000)
    expect((await body).length).toBeLessThanOrEqual(FIRST_HALF.length)
  })
})

describe('requests that a client sends ahead', () => {
  test.each([
    [16, 16],
    [17, 16],
  ])('are served while at most sixteen wait for a response: of %i, %i', async (sent, served) => {
    const seen: string[] = []
    const port = createMultiplexer(({ url = '' }) => void seen.push(url))
    port.server.listen(0, '127.0.0.1')
    await once(port.server, 'listening')
    onTestFinished(() => {
      port.destroyConnections()
      port.server.close()
    })
    const { socket, ended } = await openSocket((port.server.address() as AddressInfo).port)
    ended.catch(() => {})
    const closed = new Promise((resolve) => socket.on('error', () => {}).once('close', resolve))
    socket.write(GET('/a').repeat(sent))
    if (sent > served) await closed
    await expect.poll(() => seen.length).toBeGreaterThanOrEqual(served)
    expect([seen.length, socket.destroyed]).toEqual([served, sent > served])
  })
})

describe('closing ends', () => {
  test('a connection without a request', async () => {
    const { number, close } = await startMultiplexer()
    const { ended } = await openSocket(number)
    await Promise.all([close(), ended])
  })

  test('an idle HTTP/2 session', async () => {
    const { origin, close } = await startMultiplexer()
    const session = openHttp2(origin)
    expect(await request(session, '/a').body).toBe('HTTP/2.0 /a ')
    await Promise.all([close(), once(session, 'close')])
  })

  test('an HTTP/1.1 connection after all requests that were sent ahead on it', async () => {
    const { number, close, release } = await startMultiplexer()
    const { socket, received, ended, text } = await openSocket(number)
    socket.write(GET('/slow') + GET('/ahead'))
    await received(FIRST_HALF)
    const closed = close()
    release()
    await Promise.all([closed, ended])
    expect(text()).toContain('HTTP/1.1 /ahead ')
  })

  test('an HTTP/2 session after its open request', async () => {
    const { origin, close, release } = await startMultiplexer()
    const session = openHttp2(origin)
    const slow = request(session, '/slow')
    await slow.started
    const closed = close()
    release()
    expect(await slow.body).toBe(FIRST_HALF + SECOND_HALF)
    await closed
  })
})

test('destroying connections ends open requests of both protocols', async () => {
  const { number, origin, close, destroyConnections } = await startMultiplexer()
  const { socket, received, text } = await openSocket(number)
  socket.write(GET('/slow'))
  const slow = request(openHttp2(origin), '/slow')
  await Promise.all([received(FIRST_HALF), slow.started])
  const closed = close()
  destroyConnections()
  await closed
  expect(text()).not.toContain(SECOND_HALF)
  expect(await slow.body.catch(() => 'broken off')).not.toContain(SECOND_HALF)
})

describe('when a client leaves', () => {
  test('every pending response is closed, also those to requests sent ahead', async () => {
    const closed: string[] = []
    const { number, server } = await startMultiplexer()
    server.on('request', (request, response) => response.on('close', () => closed.push(request.url ?? '')))
    const { socket, received } = await openSocket(number)
    socket.write(GET('/slow').repeat(3))
    await received(FIRST_HALF)
    socket.destroy()
    await expect.poll(() => closed.length).toBe(3)
    expect(closed).toEqual(['/slow', '/slow', '/slow'])
  })

  test.each([
    ['FIN', (socket: Socket) => socket.end()],
    ['RST', (socket: Socket) => socket.resetAndDestroy()],
  ])('an HTTP/2 connection by %s, the connection and its responses are closed', async (_how, leave) => {
    const { number, origin, server } = await startMultiplexer()
    const socket = connect(number, '127.0.0.1')
    const session = connectHttp2(origin, { createConnection: () => socket })
    session.on('error', () => {})
    const [connection] = await once(server, 'connection')
    const slow = request(session, '/slow')
    await slow.started
    const closed = new Promise((resolve) => connection.once('close', resolve))
    leave(socket)
    await closed
  })

  test.each([['headers that cannot be decoded', frame(1, 4, 1, Buffer.alloc(20, 0xff))]])(
    'an HTTP/2 connection after %s, it is closed',
    async (_what, error) => {
      const timeouts = { ...DEFAULT_TIMEOUTS, keepAliveMs: 50 }
      const { number, server } = await startMultiplexer({ timeouts })
      const socket = connect(number, '127.0.0.1').on('error', () => {})
      const [connection] = await once(server, 'connection')
      const closed = new Promise((resolve) => connection.once('close', resolve))
      const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
      socket.end(Buffer.concat([preface, frame(4, 0, 0, Buffer.alloc(0)), error]))
      await closed
    },
  )
})

/** An HTTP/2 frame. */
function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.from([0, 0, payload.length, type, flags, 0, 0, 0, stream])
  return Buffer.concat([head, payload])
}
