import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, expect, it, onTestFinished } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { eventually } from '../../support/eventually.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService, type TestService } from '../../support/service/service.js'
import { signedHello } from '../../support/sessions/session-solver.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'

const [account] = solverAccounts
const MIB = 2 ** 20
const TEXT = 1
const CLOSE = 8

let service: TestService

const chain = await shared(startModelChain({ bonded: 1 }))

afterEach(() => service?.close())

/** A masked frame of a client (RFC 6455, section 5.2), with a mask of zero. The last one of a message is final. */
function frame(opcode: number, text: string, isFinal = true): Buffer {
  const payload = Buffer.from(text)
  const { length } = payload
  const size = length < 126 ? [0x80 | length] : [0x80 | 126, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([(isFinal ? 0x80 : 0) | opcode, ...size, 0, 0, 0, 0]), payload])
}

/** A WebSocket on a bare connection, which never closes its side. */
async function openRaw() {
  const { hostname, port, host } = new URL(service.url)
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
  onTestFinished(() => void socket.destroy())
  let received = ''
  socket
    .on('error', () => {})
    .on('data', (data) => {
      received += data
    })
  socket.write(
    `GET /v1/solvers/session HTTP/1.1\r\nhost: ${host}\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
  )
  const find = async (pattern: RegExp) =>
    (
      await eventually(
        async () => pattern.exec(received),
        (found) => found !== null,
      )
    )?.[1] ?? ''
  return { socket, find, nonce: await find(/"nonce":"(0x[0-9a-f]{64})"/) }
}

it('what a refused client goes on sending is not read', async () => {
  service = await startService(chain)
  await service.ready()
  const { socket, find } = await openRaw()
  socket.write(frame(TEXT, '{}'))
  await find(/"code":"(INVALID_ARGUMENT)"/)
  const ended = new Promise((resolve) => socket.on('close', resolve))
  const flood = Buffer.concat(Array.from({ length: 1000 }, () => frame(TEXT, 'x'.repeat(1000))))
  const go = () => {
    while (socket.write(flood));
  }
  socket.on('drain', go)
  go()
  await ended
  // What two sockets of the operating system hold.
  expect(socket.bytesWritten).toBeLessThan(32 * MIB)
})

it('a quote does not wait for a session whose solver has sent a close frame', async () => {
  service = await startService(chain, { QUOTE_TIMEOUT_MS: '10000' })
  await service.ready()
  const { socket, find, nonce } = await openRaw()
  const hello = await signedHello(account, { audience: service.url, chainIds: [chain.chainId] }, nonce)
  socket.write(frame(TEXT, JSON.stringify(hello)))
  await find(/"type":"(ready)"/)
  const ended = once(socket, 'end')
  socket.write(frame(CLOSE, ''))
  await ended
  const { status, body } = await service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
  expect(status).toBe(503)
  const record = await service.get(`/v1/${chain.chainId}/quote/${body.quoteId}`)
  expect(record.body.solvers).toMatchObject([{ outcome: 'FAILED', reason: 'session_ended' }])
})
