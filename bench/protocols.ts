import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { type Client, createClient, type Transport } from '@connectrpc/connect'
import { createConnectTransport, createGrpcTransport, Http2SessionManager } from '@connectrpc/connect-node'
import { DepositMode, OrderType, QuoteService } from '../gen/aggregator/v1/quote_pb.js'
import { runKeys } from '../test/service/keys/keyed-service.js'
import { createGrpcClient } from '../test/support/clients/grpc-client.js'
import type { Benchmark, Result } from './benchmark.js'
import { type Caller, restCaller } from './callers.js'
import { ABOUT_RATIOS, columnsOf, compareRounds, compete, type Score } from './load.js'
import { type SolverFixture, startSolverFixture } from './solver-fixture.js'

const SOLVERS = 10
const CALLERS = 16
const ROUNDS = { rounds: 11, seconds: 0.5 }

/** The same quote over every protocol. */
export const protocols: Benchmark = {
  name: 'protocols',
  about:
    `Quotes of ${SOLVERS} solvers for ${CALLERS} callers at once, in each protocol with its usual clients, compared with ` +
    'REST by undici. REST and Connect use a connection for each caller, gRPC uses one for all. The work of a client ' +
    'lowers its throughput; the CPU is that of the service alone. ' +
    ABOUT_RATIOS,
  async collectMetrics() {
    const fixture = await startSolverFixture(SOLVERS)
    try {
      return await measureOn(fixture)
    } finally {
      await fixture.stop()
    }
  },
}

async function measureOn(fixture: SolverFixture): Promise<Result> {
  const { url, dbPath, cpuSeconds } = await fixture.startService()
  await fixture.register(url, 0, SOLVERS)
  const contestant = (callers: readonly Caller[]) => ({ callers, cpuSeconds })
  const path = `${url}/v1/${fixture.chain.chainId}/quote`
  const rest = (headers = {}) => restCaller({ url: path, body: fixture.quoteRequest, headers })
  const key = await keyOf(url, dbPath)
  const scores = await compete(
    {
      'REST, undici': contestant(Array.from({ length: CALLERS }, () => rest())),
      'REST with an API key, undici': contestant(
        Array.from({ length: CALLERS }, () => rest({ 'x-api-key': key })),
      ),
      'gRPC, grpc-js': contestant(grpcCallers(fixture, url)),
      'gRPC, connect-node': contestant(connectGrpcCallers(fixture, url)),
      'Connect binary, connect-node': contestant(connectCallers(fixture, url, true)),
      'Connect JSON, connect-node': contestant(connectCallers(fixture, url, false)),
    },
    ROUNDS,
  )
  const reference = scores['REST, undici']
  return {
    rows: Object.entries<Score>(scores).map(([protocol, score]) => ({
      protocol,
      ...columnsOf(score, reference, 'quote'),
    })),
    findings: [
      {
        name: 'protocols: CPU of a quote with an API key relative to one without',
        value: compareRounds(
          scores['REST with an API key, undici'],
          reference,
          (own, other) => own.cpuMs / other.cpuMs,
        ),
        atMost: 1.02,
      },
    ],
  }
}

/** Makes an API key, and waits until the service accepts it. */
async function keyOf(url: string, dbPath: string): Promise<string> {
  const { key } = await runKeys({ DB_PATH: dbPath }, 'add', '--label', 'bench')
  while (!(await fetch(`${url}/v1/chains`, { headers: { 'x-api-key': key } })).ok) await delay(100)
  return key
}

function grpcCallers({ quoteRequest, chain }: SolverFixture, url: string): Caller[] {
  const client = createGrpcClient(url)
  const request = {
    ...quoteRequest,
    chainId: chain.chainId,
    orderType: 'ORDER_TYPE_EXACT_INPUT',
    depositMode: 'DEPOSIT_MODE_CONTRACT',
  }
  return sharing(
    async () => void (await client.call('QuoteService', 'GetQuote', request)),
    () => client.close(),
  )
}

function connectGrpcCallers(fixture: SolverFixture, baseUrl: string): Caller[] {
  const sessionManager = new Http2SessionManager(baseUrl)
  return transportCallers(fixture, createGrpcTransport({ baseUrl, sessionManager }), () =>
    sessionManager.abort(),
  )
}

function connectCallers(fixture: SolverFixture, baseUrl: string, useBinaryFormat: boolean): Caller[] {
  const agent = new Agent({ keepAlive: true })
  const transport = createConnectTransport({
    baseUrl,
    httpVersion: '1.1',
    nodeOptions: { agent },
    useBinaryFormat,
  })
  return transportCallers(fixture, transport, () => agent.destroy())
}

function transportCallers(
  { quoteRequest, chain }: SolverFixture,
  transport: Transport,
  close: () => void,
): Caller[] {
  const client: Client<typeof QuoteService> = createClient(QuoteService, transport)
  const chainId = BigInt(chain.chainId)
  const request = {
    ...quoteRequest,
    chainId,
    originChainId: chainId,
    destinationChainId: chainId,
    orderType: OrderType.EXACT_INPUT,
    depositMode: DepositMode.CONTRACT,
  }
  return sharing(async () => void (await client.getQuote(request)), close)
}

/** Callers that share one client. */
function sharing(call: () => Promise<void>, close: () => void): Caller[] {
  return Array.from({ length: CALLERS }, () => ({ call, close: async () => close() }))
}
