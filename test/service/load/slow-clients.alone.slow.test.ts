import { once } from 'node:events'
import { Agent, request as httpRequest, type RequestListener } from 'node:http'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { inSlices } from '../../../src/http/pages/static-files.js'
import { createMultiplexer, type Multiplexer } from '../../../src/http/port/multiplexer.js'

const TIMEOUTS = {
  headersMs: 300,
  requestMs: 600,
  keepAliveMs: 400,
  pingMs: 5000,
  stalledMs: 400,
  pausedMs: 400,
  closeMs: 400,
}
const DRIP_MS = 40
const BETWEEN_REQUESTS_MS = 20
/** Twice the longest timeout, and room for a busy machine. */
const IN_TIME_MS = 3000
/** Longer than what the system buffers for a client that does not read. */
const LONG_ANSWER = Buffer.alloc(20_000_000)
/** Takes several times `stalledMs` at 16 KiB in 100 ms. */
const SLICED_ANSWER = Buffer.alloc(320 * 1024)
const HTTP2_BEGINNING = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const EMPTY_SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])

let port: Multiplexer
let number: number
let cleanUps: (() => void)[]

beforeEach(async () => {
  const echo: RequestListener = async (request, response) => {
    let length = 0
    try {
      for await (const chunk of request) length += chunk.length
    } catch {
      return
    }
    if (request.url === '/inSlices') return void inSlices(SLICED_ANSWER).pipe(response)
    response.end(request.url === '/long' ? LONG_ANSWER : `${request.method} ${length}`)
  }
  port = createMultiplexer(echo, { timeouts: TIMEOUTS })
  port.server.listen(0, '127.0.0.1')
  await once(port.server, 'listening')
  number = (port.server.address() as AddressInfo).port
  cleanUps = []
})

afterEach(async () => {
  for (const cleanUp of cleanUps) cleanUp()
  port.destroyConnections()
  port.server.close()
  await once(port.server, 'close')
})

/** A client that sends `first` and then `drip` all the time. */
async function openClient(first: string | Buffer, drip?: string | Buffer): Promise<Socket> {
  const socket = connect(number, '127.0.0.1')
  socket.on('error', () => {}).resume()
  await once(socket, 'connect')
  if (first.length > 0) socket.write(first)
  const timer = drip === undefined ? undefined : setInterval(() => socket.write(drip), DRIP_MS)
  cleanUps.push(() => {
    clearInterval(timer)
    socket.destroy()
  })
  return socket
}

function openHttp2(): ClientHttp2Session {
  const session = connectHttp2(`http://127.0.0.1:${number}`)
  session.on('error', () => {})
  cleanUps.push(() => session.destroy())
  return session
}

/** Rejects unless the event comes in time. Until then a good client is served again and again. */
async function droppedInTime(client: Socket | ClientHttp2Session): Promise<void> {
  const dropped = once(client, 'close', { signal: AbortSignal.timeout(IN_TIME_MS) })
  let isDropped = false
  const settled = dropped.finally(() => {
    isDropped = true
  })
  settled.catch(() => {})
  let served = 0
  do {
    expect(await good()).toBe('POST 4')
    served++
    await pause(BETWEEN_REQUESTS_MS)
  } while (!isDropped)
  await dropped
  expect(served).toBeGreaterThan(1)
}

async function good(): Promise<string> {
  const call = httpRequest({ port: number, host: '127.0.0.1', method: 'POST', agent: new Agent() })
  call.end('body')
  const [response] = await once(call, 'response')
  return (await response.setEncoding('utf8').toArray()).join('')
}

const frame = (type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)) => {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}
/** `:method: POST`, `:scheme: http`, `:path: /` from HPACK's static table. */
const POST_HEADERS = Buffer.from([0x83, 0x86, 0x84])
const HTTP2 = Buffer.concat([HTTP2_BEGINNING, EMPTY_SETTINGS])

describe('a client is dropped, while a good client is served, when it', () => {
  const clients: [string, string | Buffer, (string | Buffer)?][] = [
    ['sends nothing', ''],
    ['sends half a request line', 'GET /a'],
    ['drips headers without end', 'GET / HTTP/1.1\r\nhost: a\r\nx: ', 'x'],
    ['drips a body without end', 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 999999\r\n\r\n', 'x'],
    [
      'drips chunks without end',
      'POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n',
      '1\r\nx\r\n',
    ],
    ['opens HTTP/2 and never sends a request', HTTP2],
    [
      'drips HTTP/2 headers without end',
      Buffer.concat([HTTP2, frame(1, 0, 1, POST_HEADERS)]),
      frame(9, 0, 1, Buffer.from([0x86])),
    ],
    ['drips a frame of HTTP/2', Buffer.concat([HTTP2, Buffer.from([0, 63, 255, 0, 0, 0, 0, 0, 1])]), 'x'],
    ['sends HTTP/2 pings and never a request', HTTP2, frame(6, 0, 0, Buffer.alloc(8))],
  ]
  it.each(clients)('%s', async (_, first, drip) => {
    await droppedInTime(await openClient(first, drip))
  })
})

describe('an HTTP/2 request', () => {
  it.each([
    ['that never sends its body', undefined],
    ['that drips its body without end', 'x'],
  ])('%s is cancelled, while others in its session are served', async (_, drip) => {
    const session = openHttp2()
    const dropped = droppedInTime(session)
    dropped.catch(() => {})
    const slow = session.request({ ':method': 'POST' })
    slow.on('error', () => {}).resume()
    const timer = setInterval(() => drip !== undefined && slow.write(drip), DRIP_MS)
    cleanUps.push(() => clearInterval(timer))
    const cancelled = once(slow, 'close', { signal: AbortSignal.timeout(IN_TIME_MS) })
    const other = session.request({ ':method': 'POST' })
    other.end('body')
    expect((await other.setEncoding('utf8').toArray()).join('')).toBe('POST 4')
    await cancelled
    clearInterval(timer)
    await dropped
  })
})

describe('a connection that is idle after a response is closed', () => {
  it('when it uses HTTP/1.1', async () => {
    const socket = await openClient('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
    await droppedInTime(socket)
    expect(socket.bytesRead).toBeGreaterThan(0)
  })

  it('when it uses HTTP/2', async () => {
    const session = openHttp2()
    const call = session.request({ ':method': 'POST' })
    call.end('body')
    expect((await call.setEncoding('utf8').toArray()).join('')).toBe('POST 4')
    await droppedInTime(session)
  })
})

describe('a response that its client does not take is cut off', () => {
  it('on HTTP/1.1', async () => {
    const call = httpRequest({ port: number, host: '127.0.0.1', path: '/long', agent: new Agent() }).end()
    const [connection] = await once(port.server, 'connection')
    cleanUps.push(() => call.destroy())
    const closed = once(connection, 'close', { signal: AbortSignal.timeout(IN_TIME_MS) })
    await expect(closed, 'the server closes the connection in time').resolves.toBeDefined()
  })

  it('on HTTP/2 whose window is closed, while its session is in use', async () => {
    const session = connectHttp2(`http://127.0.0.1:${number}`, { settings: { initialWindowSize: 0 } })
    session.on('error', () => {})
    const timer = setInterval(() => session.ping(() => {}), DRIP_MS)
    cleanUps.push(() => {
      clearInterval(timer)
      session.destroy()
    })
    const untaken = session.request({ ':path': '/long' })
    untaken.on('error', () => {}).resume()
    await once(untaken, 'close', { signal: AbortSignal.timeout(IN_TIME_MS) })
    expect(session.destroyed).toBe(false)
  })
})
