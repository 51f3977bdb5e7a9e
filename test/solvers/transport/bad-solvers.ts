import { setTimeout as delay } from 'node:timers/promises'
import { createServer as createTlsServer } from 'node:tls'
import { gzipSync } from 'node:zlib'
import {
  CHUNKED,
  chunk,
  type Exchange,
  head,
  malformedSolver,
  ok,
  sends,
  sendsAndCloses,
} from '../../support/solvers/malformed-solvers.js'

const padded = (json: string, length: number) => json.padEnd(length, ' ')
const bomb = (json: string) => padded(json, 8_000_000)

async function drip(socket: Exchange['socket'], text: string): Promise<void> {
  for (const byte of text) {
    if (socket.destroyed) return
    socket.write(byte)
    await delay(25)
  }
}

const closing = [
  malformedSolver('closes the connection before it reads', 'failed connection_lost', ({ socket }) =>
    socket.destroy(),
  ),
  malformedSolver(
    'closes the connection when it has read',
    'failed connection_lost',
    async ({ socket, offer }) => {
      await offer()
      socket.end()
    },
  ),
  sendsAndCloses('closes inside the body', 'failed connection_lost', (json) => ok(json).subarray(0, -20)),
]

const hanging = [
  malformedSolver('never reads', 'late', ({ socket }) => socket.pause()),
  sends('hangs before the headers', 'late', () => ''),
  sends('hangs after half the body', 'late', (json) => ok(json).subarray(0, -300)),
  sends('hangs before the last chunk', 'late', (json) => CHUNKED + chunk(json)),
  malformedSolver('drips its body', 'late', async ({ socket, offer }) => {
    const json = JSON.stringify(await offer())
    socket.write(head(`content-length: ${json.length}`))
    await drip(socket, json)
  }),
]

const redirecting = ['301 Moved', '307 Temporary'].map((status) =>
  sends(`redirects by ${status}`, 'declined', (json, { trapPort }) =>
    ok(json, { status, headers: [`location: http://127.0.0.1:${trapPort}/quote`] }),
  ),
)

const withStatus = ['201 Created', '304 Not Modified', '404 Not Found', '500 Oops']
  .map((status) => sends(`answers ${status} with a good reply`, 'declined', (json) => ok(json, { status })))
  .concat(
    sends('answers 204', 'declined', () => 'HTTP/1.1 204 No Content\r\n\r\n'),
    sends('answers 407 and asks for credentials', 'declined', () =>
      ok('', { status: '407 Proxy', headers: ['proxy-authenticate: Basic'] }),
    ),
  )

const encoded = [
  sends('a gzip bomb', 'invalid malformed', (json) =>
    ok(gzipSync(bomb(json)), { headers: ['content-encoding: gzip'] }),
  ),
  sends('a claim of gzip', 'quoted', (json) => ok(json, { headers: ['content-encoding: gzip'] })),
]

const sized = [
  sends('a body of 64 KiB to the byte', 'quoted', (json) => ok(padded(json, 65_536))),
  sends('a body in 2,000 chunks', 'failed reply_too_long', (json) => {
    const chunks = [...padded(json, 2000)].map((byte) => `1\r\n${byte}\r\n`).join('')
    return `${CHUNKED}${chunks}0\r\n\r\n`
  }),
  sends('a body of a byte more', 'failed reply_too_long', (json) => ok(padded(json, 65_537))),
  sends(
    'a byte more in chunks',
    'failed reply_too_long',
    (json) => `${CHUNKED}${chunk(json)}${chunk(' '.repeat(65_537 - json.length))}0\r\n\r\n`,
  ),
  sends('a hundred headers', 'quoted', (json) =>
    ok(json, { headers: Array.from({ length: 100 }, (_, i) => `x-${i}: ${'v'.repeat(100)}`) }),
  ),
  sends('a header of 17 KiB', 'failed', (json) => ok(json, { headers: [`x: ${'v'.repeat(17_000)}`] })),
  sends(
    '17 KiB of trailers',
    'failed',
    (json) => `${CHUNKED}${chunk(json)}0\r\nx: ${'v'.repeat(17_000)}\r\n\r\n`,
  ),
]

const framed = [
  sends(
    'a 101 to another protocol',
    'failed',
    (json) => `HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n${json}`,
  ),
  sends('a length that is too short', 'invalid malformed', (json) => head('content-length: 20') + json),
  sends('a length that is too long', 'late', (json) => head(`content-length: ${json.length + 1}`) + json),
  sends('two answers in one', 'quoted', (json) =>
    Buffer.concat([ok(json), ok(json.replace('"10"', '"99999999999"'))]),
  ),
]

const otherProtocols = [
  malformedSolver('SSH', 'failed not_http', ({ socket }) => socket.write('SSH-2.0-OpenSSH_9.6\r\n')),
  malformedSolver('HTTP/2 frames', 'failed not_http', ({ socket }) =>
    socket.write(Buffer.from('000000040000000000', 'hex')),
  ),
  malformedSolver('TLS at an http URL', 'failed', ({ socket }) =>
    createTlsServer()
      .on('tlsClientError', () => {})
      .emit('connection', socket),
  ),
]

export const badSolvers = [
  ...closing,
  ...hanging,
  ...redirecting,
  ...withStatus,
  ...encoded,
  ...sized,
  ...framed,
  ...otherProtocols,
]
