import {
  Code,
  ConnectError,
  type ConnectRouter,
  createConnectRouter,
  createContextValues,
} from '@connectrpc/connect'
import { createAsyncIterable, encodeEnvelope, type UniversalHandler } from '@connectrpc/connect/protocol'
import { expect, test } from 'vitest'
import { ErrorInfoSchema } from '../../gen/google/rpc/error_details_pb.js'
import { Health, HealthCheckResponse_ServingStatus } from '../../gen/health/v1/health_pb.js'
import { rpcRefusal, withGrpcStatusMessages, wrapHandlers } from '../../src/internals/connect.js'

const { SERVING, NOT_SERVING } = HealthCheckResponse_ServingStatus

function createRouter(): ConnectRouter {
  const router = createConnectRouter()
  router.service(Health, {
    check: () => ({ status: SERVING }),
    async *watch() {
      yield { status: SERVING }
      yield { status: NOT_SERVING }
      throw new Error('50 % of: it')
    },
  })
  return router
}

function handlerOf(router: ConnectRouter, name: string): UniversalHandler {
  const found = router.handlers.find(({ method }) => method.name === name)
  if (found === undefined) throw new Error(`no handler of ${name}`)
  return found
}

/** Calls a handler with an empty message. @returns the response with its body as text, and the trailer after it */
async function call(
  handler: UniversalHandler,
  contentType: string,
  message = encodeEnvelope(0, new Uint8Array()),
) {
  const response = await handler({
    httpVersion: '2.0',
    method: 'POST',
    url: `http://localhost${handler.requestPath}`,
    header: new Headers({ 'content-type': contentType }),
    body: createAsyncIterable([message]),
    signal: new AbortController().signal,
    contextValues: createContextValues(),
  })
  const parts: Uint8Array[] = []
  for await (const part of response.body ?? []) parts.push(part)
  const { status, header, trailer } = response
  return { status, type: header?.get('content-type'), trailer, body: Buffer.concat(parts).toString('latin1') }
}

test('wrapHandlers replaces the handlers that an adapter of Connect serves', async () => {
  const router = createRouter()
  const called: string[] = []
  wrapHandlers(router, (handler) => {
    const wrapped: typeof handler = Object.assign(async (request: Parameters<typeof handler>[0]) => {
      called.push(handler.method.name)
      return handler(request)
    }, handler)
    return wrapped
  })
  await call(handlerOf(router, 'Watch'), 'application/grpc')
  expect(called).toEqual(['Watch'])
})

test.each([
  ['application/grpc', '50 %25 of: it'],
  ['application/grpc-web', '50%20%25%20of%3A%20it'],
])('withGrpcStatusMessages encodes the percent sign and no colon on %s: %s', async (contentType, encoded) => {
  const router = createConnectRouter()
  router.service(Health, {
    // biome-ignore lint/correctness/useYield: the stream has only an end
    async *watch() {
      throw new ConnectError('50 % of: it', Code.NotFound)
    },
  })
  const { body, trailer } = await call(withGrpcStatusMessages(handlerOf(router, 'Watch')), contentType)
  expect(trailer?.get('grpc-message') ?? body).toContain(encoded)
})

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
  const isUnary = !/grpc|\+/.test(contentType)
  const message = contentType.includes('json') ? Buffer.from('{}') : Buffer.alloc(0)
  const handler = withGrpcStatusMessages(handlerOf(router, name))
  return call(handler, contentType, isUnary ? message : encodeEnvelope(0, message))
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
