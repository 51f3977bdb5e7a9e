import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { eventually } from '../../support/eventually.js'
import { startScene } from '../../support/service/scene.js'
import { signedHello } from '../../support/sessions/session-solver.js'
import { OPCODE, webSocketFrame, webSocketHandshake } from '../../support/streams/raw-websocket.js'

const [account] = solverAccounts
const MIB = 2 ** 20

const { chain, service, ask } = await startScene({ bonded: 1, environment: { QUOTE_TIMEOUT_MS: '10000' } })
await service.ready()

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
  socket.write(webSocketHandshake('/v1/solvers/session', host))
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
  const { socket, find } = await openRaw()
  socket.write(webSocketFrame(OPCODE.text, '{}'))
  await find(/"code":"(INVALID_ARGUMENT)"/)
  const ended = new Promise((resolve) => socket.on('close', resolve))
  const flood = Buffer.concat(
    Array.from({ length: 1000 }, () => webSocketFrame(OPCODE.text, 'x'.repeat(1000))),
  )
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
  const { socket, find, nonce } = await openRaw()
  const hello = await signedHello(account, { audience: service.url, chainIds: [chain.chainId] }, nonce)
  socket.write(webSocketFrame(OPCODE.text, JSON.stringify(hello)))
  await find(/"type":"(ready)"/)
  const ended = once(socket, 'end')
  socket.write(webSocketFrame(OPCODE.close))
  await ended
  const { status, body } = await ask()
  expect(status).toBe(503)
  const record = await service.get(`/v1/${chain.chainId}/quote/${body.quoteId}`)
  expect(record.body.solvers).toMatchObject([{ outcome: 'FAILED', reason: 'session_ended' }])
})
