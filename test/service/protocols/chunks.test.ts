import { once } from 'node:events'
import { createConnection } from 'node:net'
import { brotliCompressSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { startService, type TestService } from '../../support/service/service.js'

const MESSAGE_BYTES = 60_000
const LIST = 'SolverService/ListSolvers'
const CALLS = [
  [LIST, 'application/grpc-web+json', /grpc-status: 8\b/],
  ['EventService/StreamEvents', 'application/grpc-web+json', /grpc-status: 8\b/],
  [LIST, 'application/proto', /"code":"resource_exhausted"/],
  [LIST, 'application/json', /"code":"resource_exhausted"/],
] as const

let chain: TestChain
let service: TestService

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
  service = await startService(chain)
})
afterAll(async () => {
  await service?.close()
  await chain?.stop()
})

it("a long message of one of gRPC's own services is refused", async () => {
  const headers = { 'content-type': 'application/proto' }
  const body = Buffer.alloc(1025, '\x78\x01')
  const answer = await fetch(`${service.url}/grpc.health.v1.Health/Check`, { method: 'POST', headers, body })
  expect(await answer.json()).toMatchObject({ code: 'resource_exhausted' })
})

it('a compressed message is refused', async () => {
  const headers = { 'content-type': 'application/proto', 'content-encoding': 'br' }
  const body = brotliCompressSync(Buffer.alloc(MESSAGE_BYTES))
  const answer = await fetch(`${service.url}/aggregator.v1.${LIST}`, { method: 'POST', headers, body })
  expect(await answer.json()).toMatchObject({ code: 'unimplemented' })
})

it.each(CALLS)('a message in chunks of one byte is refused: %s %s', async (path, type, expected) => {
  const { hostname, port } = new URL(service.url)
  const socket = createConnection(Number(port), hostname)
  const head = Buffer.alloc(5)
  head.writeUInt32BE(MESSAGE_BYTES, 1)
  const body = Buffer.concat([head, Buffer.alloc(MESSAGE_BYTES - 1, ' ')]).toString('latin1')
  const chunks = [...body].map((byte) => `1\r\n${byte}\r\n`).join('')
  socket.write(`POST /aggregator.v1.${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: ${type}\r\n`)
  socket.end(
    Buffer.from(`transfer-encoding: chunked\r\nconnection: close\r\n\r\n${chunks}0\r\n\r\n`, 'latin1'),
  )
  let answer = ''
  socket.on('data', (data) => {
    answer += data
  })
  await once(socket, 'close')
  expect(answer).toMatch(expected)
})
