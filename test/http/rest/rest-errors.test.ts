import Fastify from 'fastify'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ServiceError } from '../../../packages/protocol/src/errors.js'
import { sendError, toRestError } from '../../../src/http/rest/rest-errors.js'

const BODY_LIMIT = 64
const JSON_TYPE = { 'content-type': 'application/json' }

/** A server that sends every error by `sendError`, with a route that throws `thrown`. */
function createServer(thrown?: unknown) {
  const server = Fastify({
    bodyLimit: BODY_LIMIT,
    frameworkErrors: (error, _request, reply) => sendError(reply, toRestError(error)),
  })
  server.setErrorHandler((error, _request, reply) => sendError(reply, toRestError(error)))
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, async () => ({}))
  server.post('/', async () => ({ ok: true }))
  server.get('/orders/:orderId', async () => ({ ok: true }))
  server.get('/throw', async () => {
    throw thrown
  })
  onTestFinished(() => server.close())
  return server
}

async function post(payload: string, headers: Record<string, string> = JSON_TYPE) {
  const response = await createServer().inject({ method: 'POST', url: '/', headers, payload })
  return { status: response.statusCode, body: response.json() }
}

async function responseTo(thrown: unknown) {
  const response = await createServer(thrown).inject({ url: '/throw' })
  return { status: response.statusCode, body: response.json() }
}

const NOT_JSON = 'must be JSON, with content-type application/json'

describe('a body that the framework rejects is bad input:', () => {
  test.each([
    ['a form', 'a=1', { 'content-type': 'application/x-www-form-urlencoded' }, 400, NOT_JSON],
    ['no known content type', '{}', { 'content-type': 'nonsense' }, 400, NOT_JSON],
    ['one byte too many', 'a'.repeat(BODY_LIMIT + 1), JSON_TYPE, 413, 'must be at most 64 KiB'],
    [
      'shorter than its content-length',
      '{}',
      { ...JSON_TYPE, 'content-length': '3' },
      400,
      'must be as long as content-length says',
    ],
  ])('%s', async (_what, payload, headers, status, message) => {
    expect(await post(payload, headers)).toEqual({
      status,
      body: {
        error: `The body ${message}.`,
        code: 'INVALID_ARGUMENT',
        details: [{ field: 'body', message }],
      },
    })
  })
})

test.each([
  ['that cannot be decoded', '/orders/%zz'],
  ['with a parameter longer than the framework takes', `/orders/${'a'.repeat(1000)}`],
])("a path %s is the caller's fault, and not the body's", async (_what, url) => {
  const response = await createServer().inject({ url })
  expect(response.statusCode).toBeGreaterThanOrEqual(400)
  expect(response.statusCode).toBeLessThan(500)
  expect(response.json().code).not.toBe('INTERNAL')
  expect(response.body).not.toContain('body')
})

test('an error for the caller has its reason and status', async () => {
  expect(await responseTo(new ServiceError('NO_QUOTES', 'No solver gave a valid quote in time.'))).toEqual({
    status: 503,
    body: { error: 'No solver gave a valid quote in time.', code: 'NO_QUOTES' },
  })
})

test('an unexpected error reveals nothing internal', async () => {
  const thrown = Object.assign(new Error('SQLITE_FULL at /var/lib/service.db'), { code: 'SQLITE_FULL' })
  expect(await responseTo(thrown)).toEqual({
    status: 500,
    body: { error: 'The service failed to answer this request.', code: 'INTERNAL' },
  })
  expect(toRestError(thrown).cause).toBe(thrown)
})

test.each([undefined, 'text'])('a thrown %j is an unexpected error too', (thrown) => {
  expect(toRestError(thrown)).toMatchObject({ reason: 'INTERNAL', httpStatus: 500 })
})
