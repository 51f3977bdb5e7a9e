import { gzipSync } from 'node:zlib'
import { type DescMessage, type DescMethodUnary, toBinary } from '@bufbuild/protobuf'
import { Code, ConnectError, createConnectRouter, createContextValues } from '@connectrpc/connect'
import type { UniversalHandler, UniversalServerRequest } from '@connectrpc/connect/protocol'
import { compressionBrotli, compressionGzip } from '@connectrpc/connect-node'
import { expect, test } from 'vitest'
import { ErrorInfoSchema } from '../../gen/google/rpc/error_details_pb.js'
import {
  Health,
  type HealthCheckRequest,
  HealthCheckRequestSchema,
  HealthCheckResponse_ServingStatus,
} from '../../gen/health/v1/health_pb.js'
import { type CallContext, withDirectCalls } from '../../src/internals/direct-call.js'

const MAX_BYTES = 200
const HOUR_MS = 3_600_000
const check = Health.method.check as DescMethodUnary<typeof HealthCheckRequestSchema, DescMessage>

const { SERVING } = HealthCheckResponse_ServingStatus
const messageOf = (service: string) =>
  toBinary(HealthCheckRequestSchema, { $typeName: 'grpc.health.v1.HealthCheckRequest', service })

function envelope(message: Uint8Array, flags = 0): Buffer {
  const head = Buffer.alloc(5)
  head[0] = flags
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

/** Answers by the name of the service that a message asks for. */
async function implementation({ service }: HealthCheckRequest, context: CallContext) {
  context.responseHeader.set(
    'seen',
    `${service} ${context.protocolName} ${Math.ceil((context.timeoutMs() ?? 0) / HOUR_MS)}`,
  )
  if (service === 'unknown') {
    const error = new ConnectError('no such: service', Code.NotFound, { meta: 'data' })
    error.details.push({ desc: ErrorInfoSchema, value: { reason: 'WHY' } })
    throw error
  }
  if (service === 'broken') throw new Error('secret')
  return { status: SERVING }
}

function connectHandler(): UniversalHandler {
  const router = createConnectRouter({
    readMaxBytes: MAX_BYTES,
    acceptCompression: [compressionGzip, compressionBrotli],
    compressMinBytes: 0xffff_ffff,
  })
  router.service(Health, { check: implementation })
  const handler = router.handlers.find(({ method }) => method.name === 'Check')
  if (handler === undefined) throw new Error('there is no handler')
  return handler
}

interface Call {
  readonly parts: readonly Uint8Array[]
  readonly header?: Record<string, string>
  readonly method?: string
  readonly failure?: Error
  /** Whether the client keeps its side open. */
  readonly isOpen?: boolean
}

async function* bodyOf({ parts, failure, isOpen }: Call): AsyncGenerator<Uint8Array> {
  yield* parts
  if (isOpen) await new Promise(() => {})
  if (failure !== undefined) throw failure
}

async function answerOf(handler: UniversalHandler, call: Call) {
  const request: UniversalServerRequest = {
    httpVersion: '2.0',
    method: call.method ?? 'POST',
    url: `http://localhost${handler.requestPath}`,
    header: new Headers({ 'content-type': 'application/grpc', ...call.header }),
    body: bodyOf(call),
    signal: new AbortController().signal,
    contextValues: createContextValues(),
  }
  const { status, header, trailer, body } = await handler(request)
  const sent: Uint8Array[] = []
  for await (const part of body ?? []) sent.push(part)
  return { status, header: [...(header ?? [])], trailer: [...(trailer ?? [])], body: Buffer.concat(sent) }
}

/** @returns the answers with and without Connect's handler, and how many calls Connect's handler got */
async function compare(call: Call) {
  const connect = connectHandler()
  let passed = 0
  const counting: UniversalHandler = Object.assign((request: UniversalServerRequest) => {
    passed++
    return connect(request)
  }, connect)
  const direct = withDirectCalls(counting, check, implementation, MAX_BYTES)
  return { direct: await answerOf(direct, call), connect: await answerOf(connect, call), passed }
}

const whole = envelope(messageOf('known'))
const direct: [string, Call][] = [
  ['a message', { parts: [whole] }],
  ['an empty message', { parts: [envelope(Buffer.alloc(0))] }],
  ['a message of the greatest length', { parts: [envelope(messageOf('x'.repeat(MAX_BYTES - 3)))] }],
  ['a type with its format', { parts: [whole], header: { 'content-type': 'application/grpc+proto' } }],
  [
    'a client that accepts compression',
    { parts: [whole], header: { 'grpc-accept-encoding': 'identity,deflate,gzip' } },
  ],
  ['no compression by name', { parts: [whole], header: { 'grpc-encoding': 'identity' } }],
  ['a deadline', { parts: [whole], header: { 'grpc-timeout': '5H' } }],
  ['an error', { parts: [envelope(messageOf('unknown'))] }],
  ['an unexpected error', { parts: [envelope(messageOf('broken'))] }],
]
const passedOn: [string, Call][] = [
  [
    'a compressed message',
    { parts: [envelope(gzipSync(messageOf('known')), 1)], header: { 'grpc-encoding': 'gzip' } },
  ],
  ['an unknown compression', { parts: [whole], header: { 'grpc-encoding': 'zstd' } }],
  ['a flag of compression alone', { parts: [envelope(messageOf('known'), 1)] }],
  [
    'JSON',
    {
      parts: [envelope(Buffer.from('{"service":"known"}'))],
      header: { 'content-type': 'application/grpc+json' },
    },
  ],
  ['gRPC-Web', { parts: [whole], header: { 'content-type': 'application/grpc-web' } }],
  ['another verb', { parts: [whole], method: 'GET' }],
  ['a deadline that is not valid', { parts: [whole], header: { 'grpc-timeout': '5 s' } }],
  ['chunks that hold no whole envelope', { parts: [...whole].map((byte) => Buffer.from([byte])) }],
  ['no message', { parts: [] }],
  ['a message that is cut off', { parts: [whole.subarray(0, -1)] }],
  ['two messages', { parts: [whole, whole] }],
  ['a message that is too long', { parts: [envelope(messageOf('x'.repeat(MAX_BYTES - 2)))] }],
  ['a body that is too long', { parts: Array.from({ length: 20 }, () => whole) }],
  ['two messages without an end', { parts: [whole, whole], isOpen: true }],
  ['broken protobuf without an end', { parts: [envelope(Buffer.from([0x0a, 0xff]))], isOpen: true }],
  ['broken protobuf', { parts: [envelope(Buffer.from([0x0a, 0xff]))] }],
  ['a body that fails', { parts: [whole], failure: new ConnectError('left', Code.Canceled) }],
]

test.each(direct)('withDirectCalls answers %s as Connect does', async (_, call) => {
  const { direct, connect, passed } = await compare(call)
  expect(direct).toEqual(connect)
  expect(passed).toBe(0)
})

test.each(passedOn)('withDirectCalls passes %s on to Connect', async (_, call) => {
  const { direct, connect, passed } = await compare(call)
  expect(direct).toEqual(connect)
  expect(passed).toBe(1)
})

test('withDirectCalls aborts the signal of a call at its deadline', async () => {
  const wait = async (_: HealthCheckRequest, { signal }: CallContext) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    return { status: SERVING }
  }
  const handler = withDirectCalls(connectHandler(), check, wait, MAX_BYTES)
  const { trailer } = await answerOf(handler, { parts: [whole], header: { 'grpc-timeout': '20m' } })
  expect(trailer).toEqual([['grpc-status', '0']])
})
