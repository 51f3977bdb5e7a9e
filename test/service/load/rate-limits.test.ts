import { ConnectError, createClient } from '@connectrpc/connect'
import { createGrpcTransport } from '@connectrpc/connect-node'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { SolverService } from '../../../gen/aggregator/v1/solver_pb.js'
import { RetryInfoSchema } from '../../../gen/google/rpc/error_details_pb.js'
import { between } from '../../support/between.js'
import { solverAccounts, startChain, type TestChain } from '../../support/chain/chain.js'
import { createGrpcClient } from '../../support/clients/grpc-client.js'
import { startService, type TestService } from '../../support/service/service.js'

/** The limits of docs/protocol.md, "Limits and defaults", which the test harness usually turns off. */
const LISTED = {
  RATE_LIMIT_MAX: '100',
  RATE_LIMIT_QUOTE: '30',
  RATE_LIMIT_PRICE: '30',
  RATE_LIMIT_ORDER: '60',
  RATE_LIMIT_REGISTER: '5',
  RATE_LIMIT_UNREGISTER: '10',
  RATE_LIMIT_SOLVERS: '60',
  RATE_LIMIT_RESULTS: '60',
}

let chain: TestChain
let service: TestService

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
})
afterAll(() => chain?.stop())
afterEach(() => service.close())

const routes: [string, number, string, string, (chainId: number) => [verb: string, path: string]][] = [
  ['quotes', 30, 'QuoteService', 'GetQuote', (chainId) => ['POST', `/v1/${chainId}/quote`]],
  ['prices', 30, 'QuoteService', 'GetPrice', (chainId) => ['POST', `/v1/${chainId}/price`]],
  ['orders', 60, 'OrderService', 'GetOrder', (chainId) => ['GET', `/v1/${chainId}/order/0x12`]],
  ['lists of orders', 60, 'OrderService', 'ListOrders', (chainId) => ['GET', `/v1/${chainId}/orders`]],
  [
    'registrations',
    5,
    'SolverService',
    'RegisterSolver',
    (chainId) => ['POST', `/v1/${chainId}/solvers/register`],
  ],
  [
    'unregistrations',
    10,
    'SolverService',
    'UnregisterSolver',
    (chainId) => ['DELETE', `/v1/${chainId}/solvers/${solverAccounts[0].address}`],
  ],
  ['lists of solvers', 60, 'SolverService', 'ListSolvers', (chainId) => ['GET', `/v1/${chainId}/solvers`]],
  [
    "pages of a solver's own results",
    60,
    'SolverService',
    'ListOwnResults',
    (chainId) => ['POST', `/v1/${chainId}/solvers/${solverAccounts[0].address}/results`],
  ],
  ['descriptions of the instance', 100, 'ChainService', 'ListChains', () => ['GET', '/v1/chains']],
]

describe.each(routes)('%s', (_, limit, grpcService, grpcMethod, route) => {
  it(`are accepted exactly ${limit} times a minute on REST, with the count in the headers`, async () => {
    service = await startService(chain, LISTED)
    const [verb, path] = route(chain.chainId)
    for (let left = limit - 1; left >= 0; left--) {
      const { status, headers } = await service.send(verb, path)
      expect(status).not.toBe(429)
      expect([headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')]).toEqual([
        `${limit}`,
        `${left}`,
      ])
    }
    const { status, headers, body } = await service.send(verb, path)
    expect([status, body.code]).toEqual([429, 'RATE_LIMITED'])
    expect(headers.get('ratelimit-remaining')).toBe('0')
    expect(headers.get('retry-after')).toBe(headers.get('ratelimit-reset'))
    const seconds = Number(headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(60)
  })

  it(`are accepted exactly ${limit} times a minute when every other one comes by gRPC`, async () => {
    service = await startService(chain, LISTED)
    const grpc = createGrpcClient(service.url)
    const [verb, path] = route(chain.chainId)
    const isRefused = async (index: number) => {
      if (index % 2 === 0) return (await service.send(verb, path)).status === 429
      const call = grpc.call(grpcService, grpcMethod, { chainId: chain.chainId, orderId: '0x12' })
      return (await call.catch((error) => error)).code === 8
    }
    const refused: boolean[] = []
    for (let index = 0; index < limit + 2; index++) refused.push(await isRefused(index))
    expect(refused).toEqual([...Array(limit).fill(false), true, true])
    grpc.close()
  })
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

describe('the counted client is', () => {
  const list = (forwarded: string) =>
    service.send('GET', `/v1/${chain.chainId}/solvers`, undefined, {
      headers: { 'x-forwarded-for': forwarded },
    })
  const statuses = async (addresses: string[]) => {
    const seen = []
    for (const address of addresses) seen.push((await list(address)).status)
    return seen
  }

  it('the socket, for any X-Forwarded-For', async () => {
    service = await startService(chain, { ...LISTED, RATE_LIMIT_SOLVERS: '2' })
    expect(await statuses(['198.51.100.1', '198.51.100.2', '198.51.100.3'])).toEqual([200, 200, 429])
  })

  it('the address that one trusted proxy has seen, not what the client forged before it', async () => {
    service = await startService(chain, { ...LISTED, RATE_LIMIT_SOLVERS: '1', TRUST_PROXY: '1' })
    const forged = ['1.1.1.1, 198.51.100.1', '2.2.2.2, 198.51.100.1', '198.51.100.2']
    expect(await statuses(forged)).toEqual([200, 429, 200])
  })

  it('the address before the trusted networks', async () => {
    service = await startService(chain, {
      ...LISTED,
      RATE_LIMIT_SOLVERS: '1',
      TRUST_PROXY: '127.0.0.0/8,10.0.0.0/8',
    })
    const chained = ['198.51.100.1, 10.0.0.1', '198.51.100.1, 10.0.0.2', '198.51.100.2, 10.0.0.1']
    expect(await statuses(chained)).toEqual([200, 429, 200])
  })
})
