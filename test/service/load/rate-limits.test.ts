import { ConnectError, createClient } from '@connectrpc/connect'
import { createGrpcTransport } from '@connectrpc/connect-node'
import { afterEach, describe, expect, it } from 'vitest'
import { SolverService } from '../../../gen/aggregator/v1/solver_pb.js'
import { RetryInfoSchema } from '../../../gen/google/rpc/error_details_pb.js'
import { between } from '../../support/between.js'
import { solverAccounts } from '../../support/chain/chain.js'
import { createGrpcClient } from '../../support/clients/grpc-client.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService, type TestService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'

/** The limits, which the test harness usually turns off. Each is another number. */
const LISTED = {
  RATE_LIMIT_MAX: '100',
  RATE_LIMIT_QUOTE: '30',
  RATE_LIMIT_PRICE: '31',
  RATE_LIMIT_ORDER: '60',
  RATE_LIMIT_REGISTER: '5',
  RATE_LIMIT_UNREGISTER: '10',
  RATE_LIMIT_SOLVERS: '61',
  RATE_LIMIT_RESULTS: '62',
}

const SOLVER = solverAccounts[0].address

let service: TestService

const chain = await shared(startModelChain({ bonded: 0 }))

afterEach(() => service.close())

type Route = readonly [grpcService: string, method: string, limit: string, verb: string, path: string]

/** Each method, its limit, and its path on a chain. */
const routes: Route[] = [
  ['QuoteService', 'GetQuote', LISTED.RATE_LIMIT_QUOTE, 'POST', 'quote'],
  ['QuoteService', 'GetPrice', LISTED.RATE_LIMIT_PRICE, 'POST', 'price'],
  ['OrderService', 'GetOrder', LISTED.RATE_LIMIT_ORDER, 'GET', 'order/0x12'],
  ['OrderService', 'ListOrders', LISTED.RATE_LIMIT_ORDER, 'GET', 'orders'],
  ['SolverService', 'RegisterSolver', LISTED.RATE_LIMIT_REGISTER, 'POST', 'solvers/register'],
  ['SolverService', 'UnregisterSolver', LISTED.RATE_LIMIT_UNREGISTER, 'DELETE', `solvers/${SOLVER}`],
  ['SolverService', 'ListSolvers', LISTED.RATE_LIMIT_SOLVERS, 'GET', 'solvers'],
  ['SolverService', 'ListOwnResults', LISTED.RATE_LIMIT_RESULTS, 'POST', `solvers/${SOLVER}/results`],
  ['ChainService', 'ListChains', LISTED.RATE_LIMIT_MAX, 'GET', 'chains'],
]

it('each method has its calls a minute, on REST and gRPC together', async () => {
  service = await startService(chain, LISTED)
  const grpc = createGrpcClient(service.url)
  for (const [grpcService, method, limit, verb, path] of routes) {
    const call = () => service.send(verb, path === 'chains' ? '/v1/chains' : `/v1/${chain.chainId}/${path}`)
    const left = async () => {
      const { headers } = await call()
      expect([method, headers.get('ratelimit-limit')]).toEqual([method, limit])
      return Number(headers.get('ratelimit-remaining'))
    }
    const before = await left()
    await grpc.call(grpcService, method, { chainId: chain.chainId, orderId: '0x12' }).catch(() => {})
    expect([method, before - (await left())]).toEqual([method, 2])
  }
  grpc.close()
})

it('a call above its limit is refused, with the time to retry', async () => {
  service = await startService(chain, LISTED)
  const register = () => service.post(`/v1/${chain.chainId}/solvers/register`, {})
  for (let call = 0; call < 5; call++) expect((await register()).status).toBe(400)
  const { status, headers, body } = await register()
  expect([status, body.code]).toEqual([429, 'RATE_LIMITED'])
  expect(headers.get('ratelimit-remaining')).toBe('0')
  expect(headers.get('retry-after')).toBe(headers.get('ratelimit-reset'))
  expect(Number(headers.get('retry-after'))).toEqual(between(1, 60))
})

it('a rejection on gRPC has the time to retry, in RetryInfo and in a header', async () => {
  service = await startService(chain, { ...LISTED, RATE_LIMIT_SOLVERS: '1' })
  const client = createClient(SolverService, createGrpcTransport({ baseUrl: service.url }))
  const chainId = BigInt(chain.chainId)
  await client.listSolvers({ chainId })
  const error = ConnectError.from(await client.listSolvers({ chainId }).catch((thrown) => thrown))
  const [retryInfo] = error.findDetails(RetryInfoSchema)
  expect(Number(retryInfo?.retryDelay?.seconds)).toEqual(between(1, 60))
  expect(error.metadata.get('retry-after')).toBe(String(retryInfo?.retryDelay?.seconds))
})

describe('the global limit', () => {
  it('counts unknown paths, other verbs and unsupported chains', async () => {
    service = await startService(chain, { ...LISTED, RATE_LIMIT_MAX: '4' })
    const statuses = []
    for (const [verb, path] of [
      ['GET', '/nowhere'],
      ['PUT', `/v1/${chain.chainId}/quote`],
      ['GET', '/v1/1/solvers'],
      ['POST', '/aggregator.v1.QuoteService/Nothing'],
      ['GET', '/nowhere'],
    ] as const) {
      statuses.push((await service.send(verb, path)).status)
    }
    expect(statuses).toEqual([404, 405, 404, 404, 429])
    expect((await service.get(`/v1/${chain.chainId}/solvers`)).status).toBe(200)
  })

  it('does not count /health and /metrics', async () => {
    service = await startService(chain, { ...LISTED, RATE_LIMIT_MAX: '1' })
    for (let index = 0; index < 5; index++) {
      expect((await service.get('/health')).status).toBe(200)
      expect((await service.get('/metrics')).status).toBe(200)
    }
  })
})
