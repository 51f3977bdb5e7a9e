import {
  Code,
  ConnectError,
  type ConnectRouter,
  createConnectRouter,
  createContextValues,
} from '@connectrpc/connect'
import { createAsyncIterable, encodeEnvelope, type UniversalHandler } from '@connectrpc/connect/protocol'
import { expect, test } from 'vitest'
import { Health, HealthCheckResponse_ServingStatus } from '../../gen/health/v1/health_pb.js'
import { withGrpcStatusMessages, wrapHandlers } from '../../src/internals/connect.js'

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

/** Calls a streaming handler. */
function respond(handler: UniversalHandler, contentType: string) {
  return handler({
    httpVersion: '2.0',
    method: 'POST',
    url: `http://localhost${handler.requestPath}`,
    header: new Headers({ 'content-type': contentType }),
    body: createAsyncIterable([encodeEnvelope(0, new Uint8Array())]),
    signal: new AbortController().signal,
    contextValues: createContextValues(),
  })
}

/** Calls a streaming handler. @returns each part of the body, and the trailer after it */
async function call(handler: UniversalHandler, contentType: string) {
  const response = await respond(handler, contentType)
  const parts: Uint8Array[] = []
  for await (const part of response.body as AsyncIterable<Uint8Array>) parts.push(part)
  return { parts, trailer: response.trailer }
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
  const { parts, trailer } = await call(withGrpcStatusMessages(handlerOf(router, 'Watch')), contentType)
  const text = trailer?.get('grpc-message') ?? Buffer.concat(parts).toString('latin1')
  expect(text).toContain(encoded)
})
