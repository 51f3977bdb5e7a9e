import Fastify, { type FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { invalidArgument } from '../../../packages/protocol/src/errors.js'
import { sendError, toRestError } from '../../../src/http/rest/rest-errors.js'
import { registerRestRoutes } from '../../../src/http/rest/transcoder.js'
import type { MethodHandler } from '../../../src/rpc/middleware.js'
import { methodWith } from './proto-descriptors.js'

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
  registerRestRoutes(
    server,
    [method],
    () => {},
    () => {},
  )
})
afterEach(() => server.close())

const get = async (query: string) => {
  const { statusCode, body } = await server.inject(`/v1/1/order${query}`)
  return { status: statusCode, body: JSON.parse(body) }
}

test.each(['orderId', 'order_id'])('a GET takes its fields from the query: %s', async (name) => {
  const { status, body } = await get(`?${name}=0x12`)
  expect([status, body.orderId]).toEqual([200, '0x12'])
})

test('a GET rejects a parameter of its path', async () => {
  const { status, body } = await get('?orderId=0x12&chainId=1')
  expect([status, body.code]).toEqual([400, 'INVALID_ARGUMENT'])
  expect(body.details).toEqual([
    { field: 'chainId', message: 'is not a parameter of this path: use orderId' },
  ])
})
