import type { Duplex } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { openSocket, startMultiplexer } from './multiplexer-server.js'

describe('an upgrade to another protocol', () => {
  /** The headers that curl and Java's client add to the first request on a connection. */
  const H2C = [
    'host: localhost',
    'connection: Upgrade, HTTP2-Settings',
    'upgrade: h2c',
    'http2-settings: AAMAAABkAAQAoAAAAAIAAAAA',
  ].join('\r\n')

  /** A server that accepts WebSockets and reports them. */
  async function startUpgradable() {
    const port = await startMultiplexer({ isWebSocketPath: (path) => path === '/ws' })
    port.server.on('upgrade', (request, socket: Duplex, head: Buffer) => {
      socket.end(`upgraded ${request.method} ${request.url} with ${head}`)
    })
    return port
  }

  test.each([
    ['GET', `GET /a HTTP/1.1\r\n${H2C}\r\n\r\n`, 'HTTP/1.1 /a '],
    [
      'POST in chunks',
      `POST /a HTTP/1.1\r\n${H2C}\r\ntransfer-encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n`,
      'HTTP/1.1 /a body',
    ],
  ])('is ignored in a %s for h2c, which gets a response', async (_what, text, answer) => {
    const { number } = await startUpgradable()
    const { socket, received } = await openSocket(number)
    socket.write(text)
    await received(answer)
    socket.write('GET /b HTTP/1.1\r\nhost: a\r\n\r\n')
    await received('HTTP/1.1 /b ')
  })

  test.each(['h2c, websocket', 'websocket/13', 'TLS/1.3', ''])('is ignored for %j', async (protocol) => {
    const { number } = await startUpgradable()
    const { socket, received } = await openSocket(number)
    socket.write(`GET /ws HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: ${protocol}\r\n\r\n`)
    await received('HTTP/1.1 /ws ')
  })

  test.each(['websocket', 'WebSocket'])(
    'is accepted for %s, with the bytes after the request',
    async (protocol) => {
      const { number } = await startUpgradable()
      const { socket, received, ended, text } = await openSocket(number)
      const headers = `host: localhost\r\nconnection: keep-alive, Upgrade\r\nupgrade: ${protocol}`
      socket.write(`GET /ws?a HTTP/1.1\r\n${headers}\r\n\r\nframes`)
      await received('upgraded GET /ws?a with frames')
      await ended
      expect(text()).not.toContain('HTTP/1.1')
    },
  )

  test.each([
    ['at another path', 'GET /a', '', 'host: a'],
    ['by another verb', 'POST /ws', '', 'host: a'],
    ['with a second Host', 'GET /ws', '', 'host: a\r\nhost: b'],
    [
      'before an earlier request has its answer',
      'GET /slow HTTP/1.1\r\nhost: a\r\n\r\nGET /ws',
      'first',
      'host: a',
    ],
  ])('is ignored for a WebSocket %s', async (_what, request, before, host) => {
    const { number, release } = await startUpgradable()
    const { socket, received, text } = await openSocket(number)
    socket.write(`${request} HTTP/1.1\r\n${host}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n`)
    await received(before)
    release()
    await received(`HTTP/1.1 ${request.split(' ').at(-1)} `)
    expect(text()).not.toContain('upgraded')
    socket.write('GET /b HTTP/1.1\r\nhost: a\r\n\r\n')
    await received('HTTP/1.1 /b ')
  })
})
