import Fastify, { type FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { EventService } from '../../../gen/aggregator/v1/event_pb.js'
import { invalidArgument, type ServiceError } from '../../../packages/protocol/src/errors.js'
import { sendError, toRestError } from '../../../src/http/rest/rest-errors.js'
import { createQueryCheck, parseJsonBody, registerRestRoutes } from '../../../src/http/rest/transcoder.js'
import type { MethodHandler } from '../../../src/rpc/middleware.js'
import { only } from '../../support/only.js'
import { methodWith } from './proto-descriptors.js'

/** The violations of a body. */
function violationsOf(body: string | Buffer): readonly { field: string; message: string }[] {
  try {
    parseJsonBody(Buffer.from(body as string))
  } catch (error) {
    expect(error).toMatchObject({ reason: 'INVALID_ARGUMENT', httpStatus: 400 })
    return (error as ServiceError).violations
  }
  throw new Error('the body was accepted')
}

test('the reader of bodies skips a byte order mark', () => {
  expect(parseJsonBody(Buffer.from('\ufeff{"größe":"漢字 🙂"}'))).toEqual({ größe: '漢字 🙂' })
  expect(violationsOf('\ufeff\ufeff{}')).toEqual([{ field: 'body', message: 'must be valid JSON' }])
})

test.each([
  ['nothing', ''],
  ['half an object', '{"a":'],
])('%s is not valid JSON', (_what, text) => {
  expect(violationsOf(text)).toEqual([{ field: 'body', message: 'must be valid JSON' }])
})

test.each(['[]', '1', 'null'])('%s is not an object', (text) => {
  expect(violationsOf(text)).toEqual([{ field: 'body', message: 'must be a JSON object' }])
})

test('a body that is not UTF-8 is rejected', () => {
  expect(violationsOf(Buffer.from('{"a":"é"}', 'latin1'))).toEqual([
    { field: 'body', message: 'must be UTF-8' },
  ])
})

const { fields } = EventService.method.streamEvents.input
const check = createQueryCheck(fields)

test('every field is a parameter, by its name in JSON and in the proto', () => {
  const names = fields.flatMap((field) => [field.jsonName, field.name])
  expect(names).toContain('chain_id')
  expect(check(Object.fromEntries(names.map((name) => [name, '1'])))).toEqual([])
})

test.each(['chainid', 'solver[]', '', '__proto__', 'constructor'])('%j is not a parameter', (name) => {
  const query = JSON.parse(`{${JSON.stringify(name)}:"1"}`)
  const message = 'is not a parameter of this path: use after, chainId, type, orderId, user, solver, health'
  expect(check(query)).toEqual([{ field: name, message }])
})

test('many, long or unprintable names are not repeated in full', () => {
  const query = Object.fromEntries(
    Array.from({ length: 100 }, (_, index) => [`\u202e${index}${'x'.repeat(9999)}`, '']),
  )
  const violations = check(query)
  expect(violations).toHaveLength(16)
  for (const { field } of violations) expect(field).toMatch(/^\?[0-9]+x+$/)
  expect(Math.max(...violations.map(({ field }) => field.length))).toBe(64)
})

describe('a GET', () => {
  let server: FastifyInstance

  /** A method that takes its order id from the query and returns it. */
  const method = {
    desc: methodWith({ pattern: { case: 'get', value: '/v1/{chain_id}/order' } }),
    hasChain: true,
    assertChain() {},
    checkLimits: async () => {},
    checkChainAndLimits: async () => {},
    async handle(message, _call, malformed = []) {
      if (malformed.length > 0) throw invalidArgument(malformed)
      return { orderId: (message as unknown as { orderId: string }).orderId }
    },
    count() {},
  } as MethodHandler

  beforeEach(() => {
    server = Fastify()
    server.decorateRequest('rejection', undefined)
    server.setErrorHandler((thrown, _request, reply) => sendError(reply, toRestError(thrown)))
    registerRestRoutes(server, [method], only({ rateLimits: {}, logRequest() {} }))
  })
  afterEach(() => server.close())

  const get = async (query: string) => {
    const { statusCode, body } = await server.inject(`/v1/1/order${query}`)
    return { status: statusCode, body: JSON.parse(body) }
  }

  test.each(['orderId', 'order_id'])('takes its fields from the query: %s', async (name) => {
    const { status, body } = await get(`?${name}=0x12`)
    expect([status, body.orderId]).toEqual([200, '0x12'])
  })

  test('rejects a parameter of its path', async () => {
    const { status, body } = await get('?orderId=0x12&chainId=1')
    expect([status, body.code]).toEqual([400, 'INVALID_ARGUMENT'])
    expect(body.details).toEqual([
      { field: 'chainId', message: 'is not a parameter of this path: use orderId' },
    ])
  })
})
