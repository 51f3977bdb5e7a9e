import {
  Code,
  ConnectError,
  type ConnectRouter,
  createConnectRouter,
  createContextKey,
  createContextValues,
} from '@connectrpc/connect'
import { createAsyncIterable, encodeEnvelope, type UniversalHandler } from '@connectrpc/connect/protocol'
import { expect, test } from 'vitest'
import { Health, HealthCheckResponse_ServingStatus } from '../../gen/health/v1/health_pb.js'
import { REASONS } from '../../src/domain/errors.js'
import { withContinuation } from '../../src/internals/continue-stream.js'
import { withGrpcStatusMessages } from '../../src/internals/grpc-status-message.js'
import { messageEnvelope } from '../../src/internals/message-envelope.js'
import { rpcCode } from '../../src/internals/rpc-code.js'
import { wrapHandlers } from '../../src/internals/wrap-handlers.js'

const { SERVING, NOT_SERVING } = HealthCheckResponse_ServingStatus
const firstSent = createContextKey(false)

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

const STREAM_TYPES = ['application/grpc', 'application/grpc-web', 'application/connect+proto']
const extra = Buffer.from(encodeEnvelope(0, Buffer.from([8, 3])))

/** The handler of a stream that ends after its first message, or fails then. */
function oneMessage(error?: ConnectError): UniversalHandler {
  const router = createConnectRouter()
  router.service(Health, {
    async *watch(_request, { values }) {
      values.set(firstSent, true)
      yield { status: SERVING }
      if (error !== undefined) throw error
    },
  })
  return handlerOf(router, 'Watch')
}

const unexpected = () => Promise.reject(new Error('the stream does not fail'))

test.each(STREAM_TYPES)('withContinuation sends its bytes before the end of %s', async (contentType) => {
  const plain = await call(oneMessage(), contentType)
  const following = [extra, extra]
  const continuation: Parameters<typeof withContinuation>[1] = ({ contextValues }) => {
    expect(contextValues?.get(firstSent)).toBe(true)
    return async () => following.pop()
  }
  const { parts, trailer } = await call(withContinuation(oneMessage(), continuation, unexpected), contentType)
  const [first, ...end] = plain.parts
  expect(Buffer.concat(parts)).toEqual(Buffer.concat([first ?? extra, extra, extra, ...end]))
  expect([...(trailer ?? [])]).toEqual([...(plain.trailer ?? [])])
})

test.each(STREAM_TYPES)('withContinuation ends %s with an error of its bytes', async (contentType) => {
  const error = new ConnectError('the end', Code.Unavailable)
  const plain = await call(oneMessage(error), contentType)
  const router = createConnectRouter()
  router.service(Health, {
    // biome-ignore lint/correctness/useYield: the stream has only an end
    async *watch() {
      throw error
    },
  })
  const following: (Buffer | ConnectError)[] = [error, extra]
  const handler = withContinuation(
    oneMessage(),
    () => async () => following.pop(),
    (request, thrown) => {
      expect(thrown).toBe(error)
      return handlerOf(
        router,
        'Watch',
      )({ ...request, body: createAsyncIterable([encodeEnvelope(0, new Uint8Array())]) })
    },
  )
  const { parts, trailer } = await call(handler, contentType)
  const [first, ...end] = plain.parts
  expect(Buffer.concat(parts)).toEqual(Buffer.concat([first ?? extra, extra, ...end]))
  expect([...(trailer ?? [])]).toEqual([...(plain.trailer ?? [])])
})

test('withContinuation keeps no part after the next one was asked for', async () => {
  const following = [extra]
  const handler = withContinuation(oneMessage(), () => async () => following.pop(), unexpected)
  const { body } = await respond(handler, 'application/grpc')
  const parts = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
  const first = await parts.next()
  expect(first.value.length).toBeGreaterThan(0)
  const second = parts.next()
  expect(first.value.length).toBe(0)
  expect((await second).value).toEqual(extra)
})

test('withContinuation leaves a stream without a continuation as it is', async () => {
  const plain = await call(handlerOf(createRouter(), 'Watch'), 'application/grpc')
  const handler = withContinuation(handlerOf(createRouter(), 'Watch'), () => undefined, unexpected)
  expect((await call(handler, 'application/grpc')).parts).toEqual(plain.parts)
})

test.each(['application/grpc', 'application/grpc-web'])(
  'withGrpcStatusMessages encodes the percent sign and no colon on %s',
  async (contentType) => {
    const router = createConnectRouter()
    router.service(Health, {
      // biome-ignore lint/correctness/useYield: the stream has only an end
      async *watch() {
        throw new ConnectError('50 % of: it', Code.NotFound)
      },
    })
    const { parts, trailer } = await call(withGrpcStatusMessages(handlerOf(router, 'Watch')), contentType)
    const text = trailer?.get('grpc-message') ?? Buffer.concat(parts).toString('latin1')
    expect(text).toContain('50 %25 of: it')
  },
)

test.each(Object.values(REASONS))('rpcCode knows $rpc', ({ rpc }) => {
  const name = rpc.replace(/(^|_)(\w)/g, (_all, _line, letter: string) => letter.toUpperCase())
  expect(Code[rpcCode(rpc) ?? 0]).toBe(name)
})

test('messageEnvelope has no flags, and the length of its message', () => {
  expect([...messageEnvelope(Buffer.from([7, 8]))]).toEqual([0, 0, 0, 0, 2, 7, 8])
})
