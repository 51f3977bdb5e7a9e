import { once } from 'node:events'
import { type ClientHttp2Session, connect } from 'node:http2'
import { ConnectError, createClient } from '@connectrpc/connect'
import { createGrpcTransport } from '@connectrpc/connect-node'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { QuoteService } from '../../../gen/aggregator/v1/quote_pb.js'
import { ErrorInfoSchema, RetryInfoSchema } from '../../../gen/google/rpc/error_details_pb.js'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { eventually } from '../../support/eventually.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { startSolvers, startWithSolvers } from '../../support/solvers/three-solvers.js'

/** So short that many quotes at once cannot all start in time. */
const QUOTE_TIMEOUT_MS = 50
/** On one HTTP/2 connection, so that they arrive together. */
const BURST = 250

let chain: TestChain

beforeAll(async () => {
  chain = await startChain({ bonded: 3 })
})
afterAll(() => chain?.stop())

async function openOverloadFixture() {
  const { faulty } = await startSolvers(chain)
  const environment = { QUOTE_TIMEOUT_MS: String(QUOTE_TIMEOUT_MS) }
  const { service, quote } = await startWithSolvers(chain, [faulty], environment)
  const session = connect(service.url)
  onTestFinished(() => session.destroy())
  const client = createClient(QuoteService, createGrpcTransport({ baseUrl: service.url }))
  return { service, quote, faulty, session, client }
}

async function post(session: ClientHttp2Session, path: string, body: unknown) {
  const request = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/json',
  })
  request.end(JSON.stringify(body))
  const [headers] = await once(request, 'response')
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return { status: headers[':status'], retryAfter: headers['retry-after'], text }
}

async function postJson(session: ClientHttp2Session, path: string, body: unknown) {
  const { text, ...answer } = await post(session, path, body)
  return { ...answer, body: JSON.parse(text) }
}

const times = <T>(count: number, run: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => run(index)))

/** The request as RPC clients have it. */
function rpcRequest() {
  const { inputToken, outputToken, amount, userAddress } = quoteRequest(chain)
  const chainId = BigInt(chain.chainId)
  return {
    ...{ inputToken, outputToken, amount, userAddress, orderType: 1, depositMode: 1 },
    ...{ chainId, originChainId: chainId, destinationChainId: chainId },
  }
}

function expectOverload(error: unknown): void {
  const connectError = ConnectError.from(error)
  expect(connectError.findDetails(ErrorInfoSchema)[0]?.reason).toBe('SOLVERS_BUSY')
  expect(connectError.findDetails(RetryInfoSchema)[0]?.retryDelay?.seconds).toBeGreaterThan(0n)
}

const isOverload = (error: unknown) => /More quotes wait/.test(ConnectError.from(error).message)

describe('when more quotes come at once than can be served in time', () => {
  it('the others are rejected before any solver is asked, with a time to retry', async () => {
    const { service, faulty, session, quote } = await openOverloadFixture()
    const path = `/v1/${chain.chainId}/quote`
    const [answers, health] = await Promise.all([
      times(BURST, () => postJson(session, path, quoteRequest(chain))),
      service.get('/health'),
    ])
    const rejected = answers.filter(({ body }) => body.code === 'SOLVERS_BUSY')
    expect(rejected.length).toBeGreaterThan(0)
    for (const { status, retryAfter, body } of rejected) {
      expect([status, Number(retryAfter) > 0]).toEqual([503, true])
      expect(body.error).toMatch(/^More quotes wait than can be served in time: try again in \d+ s\.$/)
    }
    expect(faulty.asks.length).toBeLessThanOrEqual(BURST - rejected.length)
    const outcome = { outcome: 'overloaded' }
    expect(await service.metric('aggregator_quotes_total', outcome)).toBe(rejected.length)
    expect(health.status).toBe(200)
    await eventually(quote, ({ offers }) => offers.length === 1)
  })

  it('the same holds for gRPC', async () => {
    const { client, faulty } = await openOverloadFixture()
    const ends = await times(BURST, () => client.getQuote(rpcRequest()).catch((error) => error))
    const rejected = ends.filter(isOverload)
    expect(rejected.length).toBeGreaterThan(0)
    for (const error of rejected) expectOverload(error)
    expect(faulty.asks.length).toBeLessThanOrEqual(BURST - rejected.length)
  })

  it('the same holds for streams of quotes', async () => {
    const { client, faulty, session } = await openOverloadFixture()
    const readStream = async () => {
      for await (const _ of client.streamQuotes(rpcRequest()));
    }
    const ends = await times(BURST, () => readStream().catch((error) => error))
    const rejected = ends.filter((end) => end !== undefined && isOverload(end))
    expect(rejected.length).toBeGreaterThan(0)
    for (const error of rejected) expectOverload(error)
    expect(faulty.asks.length).toBeLessThanOrEqual(BURST - rejected.length)
    const path = `/v1/${chain.chainId}/quote/stream`
    const streams = await times(BURST, () => post(session, path, quoteRequest(chain)))
    expect(streams.filter(({ text }) => /^event: error\ndata: .*More quotes wait/m.test(text))).not.toEqual(
      [],
    )
  })

  it('the same holds for prices', async () => {
    const { session, faulty } = await openOverloadFixture()
    const { inputToken, outputToken, orderType } = quoteRequest(chain)
    const answers = await times(BURST, (index) =>
      postJson(session, `/v1/${chain.chainId}/price`, {
        ...{ inputToken, outputToken, orderType },
        amount: String(1000 + index),
      }),
    )
    const rejected = answers.filter(({ body }) => body.code === 'SOLVERS_BUSY')
    expect(rejected.length).toBeGreaterThan(0)
    expect(faulty.asks.length).toBeLessThanOrEqual(BURST - rejected.length)
  })
})
