import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { create, toBinary } from '@bufbuild/protobuf'
import { encodeEnvelope } from '@connectrpc/connect/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HealthCheckRequestSchema } from '../../../gen/health/v1/health_pb.js'
import { createHealthClient } from '../../support/clients/health-client.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'

const CHECK = '/grpc.health.v1.Health/Check'
const TEXTS = [
  'plain.Service',
  'a:b, c; d/e?f#g@h&i=j+k$l!m*n(o)p\'q~r"s\\t`u^v|w<x>y{z}',
  '100% %41 %3A %25 %',
  'line\nbreak\r\ttab\x7f',
  'Größe 漢字 🙂',
]

const chain = await shared(startModelChain({ bonded: 0 }))
const service = await shared(startService(chain))
const grpcJs = await shared(createHealthClient(service.url))
const session = await shared(connectHttp2(service.url))

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

describe('a status message', () => {
  it.each(TEXTS)('is encoded as the gRPC specification says: %j', async (text) => {
    const expected = specified(refusalOf(text))
    expect(await grpcTrailers(text)).toMatchObject({ 'grpc-status': '5', 'grpc-message': expected })
    const [, ofWeb = ''] = /grpc-message: (.*)\r\n/.exec(await grpcWebTrailer(text)) ?? []
    expect(decodeURIComponent(ofWeb)).toBe(refusalOf(text))
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

  it('shortens a long name, because it is sent in a header', async () => {
    const details = `${refusalOf('🙂'.repeat(100)).slice(0, -1)}….`
    await expect(grpcJs.check('🙂'.repeat(200))).rejects.toMatchObject({ code: 5, details })
  })
})
