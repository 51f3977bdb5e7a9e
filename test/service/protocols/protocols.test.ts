import { ConnectError, createClient, type Transport } from '@connectrpc/connect'
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from '@connectrpc/connect-node'
import { describe, expect, it } from 'vitest'
import { OrderService } from '../../../gen/aggregator/v1/order_pb.js'
import { DepositMode, OrderType, QuoteService } from '../../../gen/aggregator/v1/quote_pb.js'
import { SolverService } from '../../../gen/aggregator/v1/solver_pb.js'
import { BadRequestSchema, ErrorInfoSchema } from '../../../gen/google/rpc/error_details_pb.js'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import { solverAccounts } from '../../support/chain/chain.js'
import { createGrpcClient } from '../../support/clients/grpc-client.js'
import { startScene } from '../../support/service/scene.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import type { Behaviour } from '../../support/solvers/solver.js'
import { plain } from '../../support/streams/quote-stream-clients.js'

/** Later than the time of every block: deadlines count from the later one. */
const NOW_MS = Date.now() + 120_000
const UNKNOWN_ORDER = `0x${'ab'.repeat(32)}`

/** The same offer for each request. */
const constant =
  (outputAmount: string): Behaviour =>
  async (ask, { quoteFor, sign }) =>
    sign({ ...quoteFor(ask), outputAmount, nonce: '7' })

const { chain, service, solvers, ask } = await startScene({
  solvers: ['1000', '3000', '2000'],
  overrides: { clock: { ...systemClock, now: () => NOW_MS } },
})
const grpc = await shared(createGrpcClient(service.url))
for (const [index, output] of ['1000', '3000', '2000'].entries()) solvers[index]?.behave(constant(output))

const JSON_MESSAGES = { useBinaryFormat: false }
const transports: [string, (baseUrl: string) => Transport][] = [
  ['Connect over HTTP/1.1', (baseUrl) => createConnectTransport({ baseUrl, httpVersion: '1.1' })],
  ['Connect over HTTP/2', (baseUrl) => createConnectTransport({ baseUrl, httpVersion: '2' })],
  [
    'Connect with binary messages',
    (baseUrl) => createConnectTransport({ baseUrl, httpVersion: '1.1', useBinaryFormat: true }),
  ],
  ['gRPC-Web over HTTP/1.1', (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: '1.1' })],
  ['gRPC over HTTP/2', (baseUrl) => createGrpcTransport({ baseUrl })],
  [
    'gRPC-Web with JSON',
    (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: '1.1', ...JSON_MESSAGES }),
  ],
  ['gRPC with JSON', (baseUrl) => createGrpcTransport({ baseUrl, ...JSON_MESSAGES })],
]

describe('the same request gives the same response', () => {
  it('for a quote over REST with the specified fields, best offer first', async () => {
    const { status, body } = await ask()
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual([
      'quote',
      'solverSignature',
      'depositAddress',
      'orderId',
      'alternativeQuotes',
      'quoteId',
      'expiresAt',
      'serverTime',
    ])
    const outputs = [body, ...body.alternativeQuotes].map(({ quote }) => quote.outputAmount)
    expect(outputs).toEqual(['3000', '2000', '1000'])
    expect(body.quote).toEqual({
      solver: solverAccounts[1].address,
      user: quoteRequest(chain).userAddress,
      inputToken: chain.contracts.weth,
      inputAmount: '1000000000000000000',
      outputToken: chain.contracts.usdc,
      outputAmount: '3000',
      orderType: 0,
      outputChainId: chain.chainId,
      depositDeadline: Math.floor(NOW_MS / 1000) + 300,
      fillDeadline: Math.floor(NOW_MS / 1000) + 420,
      nonce: '7',
    })
  })

  it('for a quote over gRPC with a client that knows only the .proto files', async () => {
    const rest = await ask()
    const answer = await grpc.call('QuoteService', 'GetQuote', {
      ...quoteRequest(chain),
      chainId: chain.chainId,
      orderType: 'ORDER_TYPE_EXACT_INPUT',
      depositMode: 'DEPOSIT_MODE_CONTRACT',
    })
    expect(plain(answer)).toEqual({ ...rest.body, quoteId: expect.any(String) })
  })

  it.each(transports)('for a quote, the solvers and an order over %s', async (_, createTransport) => {
    const transport = createTransport(service.url)
    const chainId = BigInt(chain.chainId)

    const quote = await createClient(QuoteService, transport).getQuote({
      ...quoteRequest(chain),
      chainId,
      originChainId: chainId,
      destinationChainId: chainId,
      orderType: OrderType.EXACT_INPUT,
      depositMode: DepositMode.CONTRACT,
    })
    const restQuote = await ask()
    expect(plain(quote)).toEqual({ ...restQuote.body, quoteId: expect.any(String) })

    const list = await createClient(SolverService, transport).listSolvers({ chainId })
    const restList = await service.get(`/v1/${chain.chainId}/solvers`)
    expect(restList.body).toHaveLength(3)
    expect(plain(list).solvers).toEqual(restList.body)

    const order = await createClient(OrderService, transport).getOrder({ chainId, orderId: UNKNOWN_ORDER })
    expect(plain(order)).toEqual({ orderId: UNKNOWN_ORDER, chainId: chain.chainId, state: 1 })
  })
})

describe('a request with bad fields gets each of them and what it must be', () => {
  const bad = { inputToken: '0x12', orderType: 'EXACT', amount: '-1', userAddress: 7, originChainId: 1 }
  const fields = [...Object.keys(bad), 'destinationChainId', 'depositMode', 'outputToken'].sort()
  const namesOf = (violations: readonly { field: string }[] = []) =>
    violations.map(({ field }) => field).sort()

  it('on REST', async () => {
    const { status, body } = await service.post(`/v1/${chain.chainId}/quote`, bad)
    expect([status, body.code, namesOf(body.details)]).toEqual([400, 'INVALID_ARGUMENT', fields])
    const orderType = { field: 'orderType', message: 'must be EXACT_INPUT or EXACT_OUTPUT' }
    expect(body.details).toContainEqual(orderType)
    expect(body.details).toContainEqual({ field: 'userAddress', message: 'must be a string' })
  })

  it.each(transports)('over %s, as BadRequest next to ErrorInfo', async (_, createTransport) => {
    const client = createClient(QuoteService, createTransport(service.url))
    const call = client.getQuote({ chainId: BigInt(chain.chainId), amount: '0100', originChainId: 1n })
    const error = ConnectError.from(await call.catch((thrown) => thrown))
    const info = { reason: 'INVALID_ARGUMENT', domain: 'aggregator.v1' }
    expect(error.findDetails(ErrorInfoSchema)).toMatchObject([info])
    expect(namesOf(error.findDetails(BadRequestSchema)[0]?.fieldViolations)).toEqual(fields)
  })
})
