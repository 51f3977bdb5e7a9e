import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type AggregatorClient, createAggregatorClient, isRetryable, type QuoteParams } from '../src/index.js'

const ADDRESS = `0x${'11'.repeat(20)}` as const
const ORDER_ID = `0x${'22'.repeat(32)}` as const
const params: QuoteParams = {
  chainId: 1,
  inputToken: ADDRESS,
  outputToken: ADDRESS,
  orderType: 'EXACT_INPUT',
  amount: 1n,
  user: ADDRESS,
  depositMode: 'CONTRACT',
}

/** A server that is not an aggregator; @returns its URL, and how many requests it got */
async function serve(listener: RequestListener) {
  let requests = 0
  const server = createServer((request, response) => {
    requests++
    listener(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, requests: () => requests }
}

const first = (items: AsyncIterable<unknown>) => items[Symbol.asyncIterator]().next()

/** Each call of a client that asks an instance for something. */
const CALLS: readonly [string, (client: AggregatorClient, chainId: number) => Promise<unknown>][] = [
  ['getQuote', (client, chainId) => client.getQuote({ ...params, chainId })],
  ['getQuoteRecord', (client, chainId) => client.getQuoteRecord(chainId, 'an-id')],
  ['getOrder', (client, chainId) => client.getOrder(chainId, ORDER_ID)],
  ['listSolvers', (client, chainId) => client.listSolvers(chainId)],
  ['streamEvents', (client, chainId) => first(client.streamEvents({ chainIds: [chainId] }))],
  ['watchOrder', (client, chainId) => first(client.watchOrder(chainId, ORDER_ID))],
]

describe.each(CALLS)('%s', (_name, call) => {
  it.each([
    [200, 'text/html; charset=utf-8', '<!doctype html>'],
    [404, 'text/html', 'Not found'],
    [200, 'application/octet-stream', '{}'],
    [404, 'application/json', '{"message":"no such route"}'],
  ])('throws ANSWER_INVALID at once for status %i with %s', async (status, type, body) => {
    const { url, requests } = await serve((_request, response) => {
      response.writeHead(status, { 'content-type': type }).end(body)
    })
    await expect(call(createAggregatorClient({ baseUrl: url }), 1)).rejects.toMatchObject({
      name: 'AggregatorError',
      reason: 'ANSWER_INVALID',
    })
    expect(requests()).toBe(1)
  })

  it.each([undefined, null, 1.5, 0, -1, Number.NaN, 2 ** 53, '1'])(
    'names the chain id %s without a request',
    async (chainId) => {
      const { url, requests } = await serve((_request, response) => void response.end())
      const made = call(createAggregatorClient({ baseUrl: url }), chainId as number)
      await expect(made).rejects.toMatchObject({
        name: 'AggregatorError',
        reason: 'INVALID_ARGUMENT',
        message: expect.stringMatching(/chainIds? must be an integer of 1 to 2\^53-1/),
      })
      expect(requests()).toBe(0)
    },
  )
})

it.each(['localhost:3000', '', '/api', 'ws://localhost:3000', 'quotes.example', undefined])(
  'a client of %s is refused at once, with what a base URL must be',
  (baseUrl) => {
    expect(() => createAggregatorClient({ baseUrl: baseUrl as string })).toThrow(
      expect.objectContaining({
        name: 'AggregatorError',
        reason: 'ANSWER_INVALID',
        violations: [
          {
            field: 'baseUrl',
            message: 'must be a URL with http or https, such as https://quotes.example',
          },
        ],
      }),
    )
  },
)

it('a quote of a wallet that is not connected names all that is missing', async () => {
  const client = createAggregatorClient({ baseUrl: 'http://127.0.0.1:9' })
  const unconnected = {
    ...params,
    user: undefined,
    chainId: undefined,
    amount: undefined,
  } as unknown as QuoteParams
  const error = await client.getQuote(unconnected).catch((thrown) => thrown)
  expect(error).toMatchObject({ name: 'AggregatorError', reason: 'INVALID_ARGUMENT' })
  expect(error.violations.map(({ field }: { field: string }) => field)).toEqual(['chainId', 'amount', 'user'])
  await expect(client.getQuote(undefined as unknown as QuoteParams)).rejects.toMatchObject({
    name: 'AggregatorError',
  })
  await expect(client.registerSolver(undefined as never)).rejects.toMatchObject({ name: 'AggregatorError' })
})

describe('the time-out', () => {
  it('is the client’s own when a call has none', async () => {
    const { url } = await serve(() => {})
    const client = createAggregatorClient({ baseUrl: url, timeoutMs: 1 })
    await expect(client.getQuote(params)).rejects.toMatchObject({ reason: 'TIMED_OUT' })
    await expect(client.listSolvers(1)).rejects.toMatchObject({ reason: 'TIMED_OUT' })
  })

  it('is sent with a quote, so that the service answers before: 10 s when nothing else is said', async () => {
    const sent: unknown[] = []
    const { url } = await serve(({ headers }, response) => {
      sent.push(headers['connect-timeout-ms'])
      response
        .writeHead(503, { 'content-type': 'application/json' })
        .end('{"error":"No.","code":"NO_QUOTES"}')
    })
    const client = createAggregatorClient({ baseUrl: url })
    const refused = await client.getQuote(params).catch((thrown) => thrown)
    await client.getQuote(params, { timeoutMs: 1500.5 }).catch(() => {})
    expect(sent).toEqual(['10000', '1501'])
    expect([refused.reason, isRetryable(refused)]).toEqual(['NO_QUOTES', false])
  })

  it.each([0, -1, Number.NaN, '5'])('must be a number of milliseconds above 0: %s', async (timeoutMs) => {
    const wrong = expect.objectContaining({ name: 'AggregatorError', reason: 'INVALID_ARGUMENT' })
    const options = { baseUrl: 'http://127.0.0.1:9', timeoutMs: timeoutMs as number }
    expect(() => createAggregatorClient(options)).toThrow(wrong)
    const client = createAggregatorClient({ baseUrl: options.baseUrl })
    await expect(client.listSolvers(1, options)).rejects.toEqual(wrong)
  })
})

it('a proxy without an instance behind it is worth another try', async () => {
  const { url } = await serve((_request, response) => {
    response.writeHead(503, { 'content-type': 'text/html', 'retry-after': '7' }).end('<html>')
  })
  const error = await createAggregatorClient({ baseUrl: url })
    .listSolvers(1)
    .catch((thrown) => thrown)
  expect(error).toMatchObject({ reason: 'CONNECTION_FAILED', retryAfterSeconds: 7 })
  expect(isRetryable(error)).toBe(true)
  expect(isRetryable(new Error('of an app'))).toBe(false)
})

it('a base URL may have a path and a slash at its end', async () => {
  const paths: (string | undefined)[] = []
  const { url } = await serve((request, response) => {
    paths.push(request.url)
    response.writeHead(200, { 'content-type': 'application/json' }).end('[]')
  })
  for (const path of ['', '/', '/quotes', '/quotes/'])
    expect(await createAggregatorClient({ baseUrl: `${url}${path}` }).listSolvers(1)).toEqual([])
  expect(paths).toEqual(['/v1/1/solvers', '/v1/1/solvers', '/quotes/v1/1/solvers', '/quotes/v1/1/solvers'])
})
