import { Code, ConnectError, createConnectRouter, createContextValues } from '@connectrpc/connect'
import { createAsyncIterable, encodeEnvelope, type UniversalHandler } from '@connectrpc/connect/protocol'
import { expect, test } from 'vitest'
import { ErrorInfoSchema } from '../../gen/google/rpc/error_details_pb.js'
import { Health } from '../../gen/health/v1/health_pb.js'
import { rpcRefusal, withGrpcStatusMessages } from '../../src/internals/connect.js'

function error(): ConnectError {
  const refused = new ConnectError('50 % of: it, ü', Code.ResourceExhausted)
  refused.details.push({ desc: ErrorInfoSchema, value: { reason: 'RATE_LIMITED' } })
  return refused
}

/** What Connect writes when a method throws the error. */
async function writtenByConnect(name: 'Check' | 'Watch', contentType: string) {
  const router = createConnectRouter()
  router.service(Health, {
    check() {
      throw error()
    },
    // biome-ignore lint/correctness/useYield: the stream has only an end
    async *watch() {
      throw error()
    },
  })
  const found = router.handlers.find(({ method }) => method.name === name)
  const isUnary = !/grpc|\+/.test(contentType)
  const message = contentType.includes('json') ? Buffer.from('{}') : Buffer.alloc(0)
  const response = await withGrpcStatusMessages(found as UniversalHandler)({
    httpVersion: '2.0',
    method: 'POST',
    url: `http://localhost/${name}`,
    header: new Headers({ 'content-type': contentType }),
    body: createAsyncIterable([isUnary ? message : encodeEnvelope(0, message)]),
    signal: new AbortController().signal,
    contextValues: createContextValues(),
  })
  const parts: Uint8Array[] = []
  for await (const part of response.body ?? []) parts.push(part)
  const { status, header, trailer } = response
  return { status, type: header?.get('content-type'), trailer, body: Buffer.concat(parts).toString('latin1') }
}

const forms: ['Check' | 'Watch', string][] = [
  ['Check', 'application/json'],
  ['Check', 'application/proto'],
  ['Watch', 'application/connect+json'],
  ['Watch', 'application/connect+proto'],
  ['Check', 'application/grpc-web+proto'],
  ['Watch', 'application/grpc-web+json'],
]

test.each(forms)('rpcRefusal writes what Connect writes for %s with %s', async (name, contentType) => {
  const { status, type, body } = await writtenByConnect(name, contentType)
  const refusal = rpcRefusal(contentType, error())
  expect({
    status: refusal.status,
    type: refusal.headers['content-type'],
    body: Buffer.from(refusal.body).toString('latin1'),
  }).toEqual({ status, type, body })
})

test.each(['application/grpc+proto', 'application/grpc+json'])(
  'rpcRefusal writes the trailer that Connect writes for %s',
  async (contentType) => {
    const { status, type, trailer, body } = await writtenByConnect('Check', contentType)
    const refusal = rpcRefusal(contentType, error())
    expect(refusal.status).toBe(status)
    expect(refusal.headers).toEqual({ 'content-type': type })
    expect(refusal.trailers).toEqual(Object.fromEntries(trailer ?? []))
    expect([refusal.body.length, body]).toEqual([0, ''])
  },
)

test.each([
  ['Application/GRPC; charset=utf-8', 'application/grpc'],
  ['application/grpc', 'application/grpc'],
  ['application/grpc-web', 'application/grpc-web'],
  ['application/grpc-web-text', 'application/json'],
  ['application/grpcs', 'application/json'],
  ['text/plain', 'application/json'],
  ['', 'application/json'],
])('rpcRefusal to %j has the type %s', (contentType, type) => {
  expect(rpcRefusal(contentType, error()).headers['content-type']).toBe(type)
})
