import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { createMultiplexer } from '../../../src/http/port/multiplexer.js'
import { listen } from '../../support/listen.js'

/** The bytes of an HTTP/1.1 request. */
export const GET = (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`
/** The two halves of the response to `/slow`, before and after `release`; long enough to fill several packets. */
export const FIRST_HALF = 'first '.repeat(50_000)
export const SECOND_HALF = 'second '.repeat(50_000)

/**
 * Starts a server on a free port. Its response has the HTTP version, the path and the body of the request. The response to
 * `/slow` gets its second half when the test calls `release`.
 */
export async function startMultiplexer(options: Parameters<typeof createMultiplexer>[1] = {}) {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const handler: RequestListener = async (request, response) => {
    if (request.url === '/slow') {
      response.write(FIRST_HALF)
      await released
      response.end(SECOND_HALF)
      return
    }
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    response.end(`HTTP/${request.httpVersion} ${request.url} ${Buffer.concat(chunks)}`)
  }
  const port = createMultiplexer(handler, options)
  const connections = new Set<Socket>()
  port.server.on('connection', (socket: Socket) => connections.add(socket))
  const { port: number } = await listen(port.server)
  onTestFinished(() => {
    port.destroyConnections()
    port.server.close()
  })

  return {
    number,
    server: port.server,
    origin: `http://127.0.0.1:${number}`,
    release,
    /** Waits until the server has read this many bytes from a connection. */
    async hasRead(bytes: number): Promise<void> {
      while (![...connections].some(({ bytesRead }) => bytesRead >= bytes)) await turn()
    },
    destroyConnections: () => port.destroyConnections(),
    drain: port.drain,
    /** Closes as the service does. @returns when every connection has ended */
    close(): Promise<void> {
      const closed = new Promise<void>((resolve) => port.server.close(() => resolve()))
      port.beginClose()
      port.server.closeIdleConnections()
      return closed
    },
  }
}

/** Opens a TCP connection, on which `received` waits for a text. */
export async function openSocket(number: number) {
  const socket = connect(number, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
  })
  return {
    socket,
    ended: once(socket, 'end'),
    text: () => text,
    async received(part: string): Promise<void> {
      while (!text.includes(part)) await once(socket, 'data')
    },
  }
}

export function openHttp2(origin: string): ClientHttp2Session {
  const session = connectHttp2(origin)
  session.on('error', () => {})
  onTestFinished(() => session.destroy())
  return session
}

/** One HTTP/2 request: `started` resolves with the first piece of the response, `body` with all of it. */
export function request(session: ClientHttp2Session, path: string, payload = '') {
  const stream = session.request({ ':path': path, ':method': 'POST' })
  stream.end(payload)
  let text = ''
  stream.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
  })
  const started = once(stream, 'data')
  const body = once(stream, 'close').then(() => text)
  started.catch(() => {})
  body.catch(() => {})
  return { started, body }
}
