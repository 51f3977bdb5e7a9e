import type { DescService } from '@bufbuild/protobuf'
import { describe, expect, test } from 'vitest'
import { ChainService } from '../../../gen/aggregator/v1/chain_pb.js'
import { EventService } from '../../../gen/aggregator/v1/event_pb.js'
import { OrderService } from '../../../gen/aggregator/v1/order_pb.js'
import { QuoteService } from '../../../gen/aggregator/v1/quote_pb.js'
import { SolverService } from '../../../gen/aggregator/v1/solver_pb.js'
import { compileRoutes } from '../../../src/http/rest/http-rules.js'
import { methodWith } from './proto-descriptors.js'

/** The routes of all methods, one line each. */
function lines(services: readonly DescService[]): string[] {
  const methods = services.flatMap((service) => service.methods)
  return methods.flatMap((method) =>
    compileRoutes(method).map(({ verb, url, hasBody, responseField }) => {
      const answer = responseField === undefined ? 'the message' : responseField.jsonName
      return `${method.name}: ${verb} ${url}, body ${hasBody ? '*' : 'none'}, answers ${answer}`
    }),
  )
}

test('the protos give the routes of the protocol', () => {
  expect(lines([QuoteService, SolverService, OrderService, EventService, ChainService])).toEqual([
    'GetQuote: POST /v1/:chainId/quote, body *, answers the message',
    'StreamQuotes: POST /v1/:chainId/quote/stream, body *, answers the message',
    'GetPrice: POST /v1/:chainId/price, body *, answers the message',
    'CheckOffer: POST /v1/:chainId/offers/check, body *, answers the message',
    'GetQuoteRecord: GET /v1/:chainId/quote/:quoteId, body none, answers the message',
    'RegisterSolver: POST /v1/:chainId/solvers/register, body *, answers the message',
    'UnregisterSolver: DELETE /v1/:chainId/solvers/:address, body *, answers the message',
    'ListSolvers: GET /v1/:chainId/solvers, body none, answers solvers',
    'ListSolverStats: GET /v1/:chainId/solvers/stats, body none, answers the message',
    'GetSolverStats: GET /v1/:chainId/solvers/:address/stats, body none, answers the message',
    'ListOwnResults: POST /v1/:chainId/solvers/:address/results, body *, answers the message',
    'GetOrder: GET /v1/:chainId/order/:orderId, body none, answers the message',
    'ListOrders: GET /v1/:chainId/orders, body none, answers the message',
    'StreamEvents: GET /v1/ws, body none, answers the message',
    'StreamEvents: GET /v1/events, body none, answers the message',
    'ListChains: GET /v1/chains, body none, answers the message',
    'ListTokens: GET /v1/:chainId/tokens, body none, answers the message',
    'ListPairs: GET /v1/:chainId/pairs, body none, answers the message',
  ])
})

test("a route's path fields are the method's own fields, in the path's order", () => {
  const [route] = compileRoutes(OrderService.method.getOrder)
  const { chainId, orderId } = OrderService.method.getOrder.input.field
  expect(route?.pathFields).toEqual([chainId, orderId])
})

test('a method without an option has no route', () => {
  expect(compileRoutes(methodWith(undefined))).toEqual([])
})

describe('the compiler rejects at start', () => {
  test.each([
    '/v1/{order_id=orders/*}',
    '/v1/*',
    '/v1/{order_id}:cancel',
    '/v1/orders:cancel',
    '/v1/order-{order_id}',
    '/v1/{order_id',
  ])('the path %s', (value) => {
    expect(() => compileRoutes(methodWith({ pattern: { case: 'get', value } }))).toThrow(
      'path variables that fill a segment',
    )
  })

  test('a variable that is not a field, with method, message and field in the error', () => {
    const rule = { pattern: { case: 'get', value: '/v1/{user}' } } as const
    expect(() => compileRoutes(methodWith(rule))).toThrow(
      /GetOrder: aggregator\.v1\.GetOrderRequest has no field user/,
    )
  })
})
