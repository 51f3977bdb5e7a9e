import { once } from 'node:events'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { create, toBinary } from '@bufbuild/protobuf'
import { ConnectError, createClient, type Transport } from '@connectrpc/connect'
import { encodeEnvelope } from '@connectrpc/connect/protocol'
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from '@connectrpc/connect-node'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Health, HealthCheckRequestSchema } from '../../../gen/health/v1/health_pb.js'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { createGrpcClient } from '../../support/clients/grpc-client.js'
import { createHealthClient, type HealthClient } from '../../support/clients/health-client.js'
import { startService, type TestService } from '../../support/service/service.js'

const CHECK = '/grpc.health.v1.Health/Check'
const TEXTS = [
  'plain.Service',
  'a:b, c; d/e?f#g@h&i=j+k$l!m*n(o)p\'q~r"s\\t`u^v|w<x>y{z}',
  '100% %41 %3A %25 %',
  'line\nbreak\r\ttab\x7f',
  'Größe 漢字 🙂',
]

let chain: TestChain
let service: TestService
let grpcJs: HealthClient
let session: ClientHttp2Session

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
  service = await startService(chain)
  grpcJs = createHealthClient(service.url)
  session = connectHttp2(service.url)
})
afterAll(async () => {
  session?.close()
  grpcJs?.close()
  await service?.close()
  await chain?.stop()
})

/** The message that rejects a service name: it repeats the name. */
const refusalOf = (name: string) => `This server has no service ${name}.`

/** A message in the encoding of the gRPC specification (PROTOCOL-HTTP2, "Percent-Byte-Encoded"). */
function specified(message: string): string {
  const characters = [...Buffer.from(message)].map((byte) =>
    byte >= 0x20 && byte <= 0x7e && byte !== 0x25
      ? String.fromCharCode(byte)
      : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
  )
  return characters.join('')
}

const envelope = (name: string) =>
  Buffer.from(
    encodeEnvelope(
      0,
      toBinary(HealthCheckRequestSchema, create(HealthCheckRequestSchema, { service: name })),
    ),
  )

/** The trailer of a gRPC call as sent. */
async function grpcTrailers(name: string): Promise<Record<string, unknown>> {
  const headers = { ':method': 'POST', ':path': CHECK, 'content-type': 'application/grpc', te: 'trailers' }
  const stream = session.request(headers)
  const trailers = once(stream, 'trailers')
  stream.resume().end(envelope(name))
  return (await trailers)[0]
}

/** The trailer of a gRPC-Web call: flags, a length and the fields at the end of the body. */
async function grpcWebTrailer(name: string): Promise<string> {
  const headers = { 'content-type': 'application/grpc-web+proto' }
  const response = await fetch(`${service.url}${CHECK}`, { method: 'POST', headers, body: envelope(name) })
  const body = Buffer.from(await response.arrayBuffer())
  expect(body[0]).toBe(0x80)
  expect(body.readUInt32BE(1)).toBe(body.length - 5)
  return body.subarray(5).toString('latin1')
}

const transports: [string, () => Transport][] = [
  ['connect-node by gRPC', () => createGrpcTransport({ baseUrl: service.url })],
  ['connect-node by gRPC-Web', () => createGrpcWebTransport({ baseUrl: service.url, httpVersion: '1.1' })],
  [
    'connect-node by gRPC-Web, HTTP/2',
    () => createGrpcWebTransport({ baseUrl: service.url, httpVersion: '2' }),
  ],
  ['connect-node by Connect', () => createConnectTransport({ baseUrl: service.url, httpVersion: '1.1' })],
]

describe('a status message', () => {
  it.each(TEXTS)('is encoded as the gRPC specification says: %j', async (text) => {
    const expected = specified(refusalOf(text))
    expect(await grpcTrailers(text)).toMatchObject({ 'grpc-status': '5', 'grpc-message': expected })
    expect(await grpcWebTrailer(text)).toContain(`grpc-message: ${expected}\r\n`)
  })

  it('reaches grpc-js unchanged', async () => {
    for (const text of TEXTS) {
      await expect(grpcJs.check(text)).rejects.toMatchObject({ code: 5, details: refusalOf(text) })
    }
    const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 60 })
    const property = fc.asyncProperty(text, async (name) => {
      await expect(grpcJs.check(name)).rejects.toMatchObject({ code: 5, details: refusalOf(name) })
    })
    await fc.assert(property, { seed: 20_261_121, numRuns: 100 })
  })

  it.each(transports)('reaches %s unchanged', async (_, createTransport) => {
    const client = createClient(Health, createTransport())
    for (const text of TEXTS) {
      const error = ConnectError.from(await client.check({ service: text }).catch((thrown) => thrown))
      expect(error.rawMessage).toBe(refusalOf(text))
    }
  })

  it('shortens a long name, because it is sent in a header', async () => {
    const details = `${refusalOf('🙂'.repeat(100)).slice(0, -1)}….`
    await expect(grpcJs.check('🙂'.repeat(200))).rejects.toMatchObject({ code: 5, details })
  })

  it('of a limit has its colon and comma on grpc-js, for one response and for a stream', async () => {
    const limited = await startService(chain, { RATE_LIMIT_SOLVERS: '1', RATE_LIMIT_STREAMS: '1' })
    const client = createGrpcClient(limited.url)
    const request = { chainId: chain.chainId }
    await client.call('SolverService', 'ListSolvers', request)
    const details = expect.stringMatching(
      /^Too many requests: at most 1 in this window, try again in \d+ s\.$/,
    )
    const refused = { code: 8, details }
    await expect(client.call('SolverService', 'ListSolvers', request)).rejects.toMatchObject(refused)
    const opened = await fetch(`${limited.url}/v1/events`)
    await opened.body?.cancel()
    await expect(client.stream('EventService', 'StreamEvents', {})).rejects.toMatchObject(refused)
    client.close()
    await limited.close()
  })

  it('is encoded in the same way at the end of a stream after messages', async () => {
    const ending = await startService(chain)
    const expected = 'grpc-message: The service is shutting down. Come back with the last cursor.\r\n'
    const headers = { 'content-type': 'application/grpc-web+proto' }
    const path = '/aggregator.v1.EventService/StreamEvents'
    const body = Buffer.alloc(5)
    const response = await fetch(`${ending.url}${path}`, { method: 'POST', headers, body })
    const closed = ending.close()
    expect(Buffer.from(await response.arrayBuffer()).toString('latin1')).toContain(expected)
    await closed
  })
})
