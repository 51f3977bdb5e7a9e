import { once } from 'node:events'
import { fromJson } from '@bufbuild/protobuf'
import { createClient } from '@connectrpc/connect'
import { createGrpcWebTransport } from '@connectrpc/connect-node'
import { pino } from 'pino'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import WebSocket from 'ws'
import { GetQuoteRequestSchema, QuoteService } from '../../../gen/aggregator/v1/quote_pb.js'
import { between } from '../../support/between.js'
import { createGrpcClient } from '../../support/clients/grpc-client.js'
import { startScene } from '../../support/service/scene.js'
import { startService } from '../../support/service/service.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { honest } from '../../support/solvers/solver.js'

// biome-ignore lint/suspicious/noExplicitAny: lines of many shapes
type Line = any

const lines: Line[] = []

const log = pino({ level: 'debug' }, { write: (line) => void lines.push(JSON.parse(line)) })
const { chain, service, solvers, ask } = await startScene({ solvers: ['Ada'], overrides: { log } })
const [solver] = solvers

beforeEach(() => {
  lines.length = 0
})

const RPC_ENUMS = { orderType: 'ORDER_TYPE_EXACT_INPUT', depositMode: 'DEPOSIT_MODE_CONTRACT' }
const requestLines = () => lines.filter(({ msg }) => msg === 'request')
const askOverConnect = () =>
  service.post('/aggregator.v1.QuoteService/GetQuote', {
    ...quoteRequest(chain),
    chainId: chain.chainId,
    ...RPC_ENUMS,
  })

const overGrpcWeb = () =>
  createClient(QuoteService, createGrpcWebTransport({ baseUrl: service.url, httpVersion: '1.1' }))

describe('a request', () => {
  it('is one log line, with the id of its response', async () => {
    const start = performance.now()
    const { headers } = await service.get(`/v1/${chain.chainId}/solvers?secret=1`)
    const elapsedMs = performance.now() - start
    await expect.poll(requestLines).toHaveLength(1)
    expect(requestLines()[0]).toMatchObject({
      level: 30,
      requestId: headers.get('x-request-id'),
      method: 'GET',
      path: `/v1/${chain.chainId}/solvers`,
      status: 200,
      durationMs: between(0, elapsedMs),
      client: '127.0.0.1',
    })
    expect(JSON.stringify(lines)).not.toContain('secret')
  })

  it('is logged with its error when it is rejected, on REST and on gRPC', async () => {
    await service.get('/v1/1/solvers')
    await service.get('/nothing')
    const grpc = createGrpcClient(service.url)
    await grpc.call('SolverService', 'ListSolvers', { chainId: 1 }).catch(() => {})
    grpc.close()
    await expect.poll(requestLines).toHaveLength(3)
    expect(requestLines().map(({ path, status, reason }) => [path, status, reason])).toEqual([
      ['/v1/1/solvers', 404, 'CHAIN_NOT_SUPPORTED'],
      ['/nothing', 404, 'ROUTE_NOT_FOUND'],
      ['/aggregator.v1.SolverService/ListSolvers', 200, 'CHAIN_NOT_SUPPORTED'],
    ])
  })

  it('for a quote is logged with its id, the winner and the number of offers, on every protocol', async () => {
    solver.behave(honest())
    const grpc = createGrpcClient(service.url)
    const rpcRequest = { ...quoteRequest(chain), chainId: chain.chainId, ...RPC_ENUMS }
    const quoteIds: string[] = [
      (await ask()).body.quoteId,
      (await askOverConnect()).body.quoteId,
      (await grpc.call('QuoteService', 'GetQuote', rpcRequest)).quoteId,
      (await overGrpcWeb().getQuote(fromJson(GetQuoteRequestSchema, rpcRequest))).quoteId,
    ]
    grpc.close()
    expect(new Set(quoteIds).size).toBe(4)
    await expect.poll(requestLines).toHaveLength(4)
    const winner = solver.account.address.toLowerCase()
    for (const quoteId of quoteIds) {
      const found = lines.filter((line) => JSON.stringify(line).includes(quoteId))
      expect(found).toEqual([
        expect.objectContaining({ msg: 'request', quoteId, winner, offers: 1, status: 200 }),
      ])
    }
  })

  it('for a WebSocket is logged when the WebSocket opens', async () => {
    const socket = new WebSocket(`${service.url.replace('http', 'ws')}/v1/ws`)
    await once(socket, 'message')
    socket.terminate()
    expect(requestLines().map(({ path, status }) => [path, status])).toEqual([['/v1/ws', 101]])
  })

  it('for health or metrics is logged at debug only', async () => {
    await service.get('/health')
    await service.get('/metrics')
    await service.post('/grpc.health.v1.Health/Check', {})
    await expect.poll(requestLines).toHaveLength(3)
    expect(requestLines().map(({ level }) => level)).toEqual([20, 20, 20])
  })
})

describe('a quote without offers', () => {
  it("is one log line with each solver's outcome and the record's id", async () => {
    solver.behave(async (_ask, _solver, { response }) => void response.writeHead(422).end())
    const { body } = await ask()
    const lost = lines.filter(({ msg }) => msg === 'no solver gave a valid quote')
    expect(lost).toMatchObject([
      {
        level: 40,
        quoteId: body.quoteId,
        chainId: chain.chainId,
        outcomes: [
          { solver: solver.account.address.toLowerCase(), outcome: { kind: 'declined', status: 422 } },
        ],
      },
    ])
    await expect.poll(() => requestLines()[0]?.quoteId).toBe(body.quoteId)
    expect(requestLines()[0]).toMatchObject({ status: 503, reason: 'NO_QUOTES', offers: 0 })
    expect(requestLines()[0]).not.toHaveProperty('winner')
  })
})

it('LOG_REQUEST_SAMPLE at 0 logs only errors of the service', async () => {
  const { get, post, close } = await startService(chain, { LOG_REQUEST_SAMPLE: '0' }, { log })
  onTestFinished(() => close())
  lines.length = 0
  await get(`/v1/${chain.chainId}/solvers`)
  // No solver is registered here: NO_QUOTES.
  const { body } = await post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
  await expect.poll(() => requestLines().map(({ reason }) => reason)).toContain('NO_QUOTES')
  expect(requestLines()).toMatchObject([{ status: 503, reason: 'NO_QUOTES', quoteId: body.quoteId }])
})
