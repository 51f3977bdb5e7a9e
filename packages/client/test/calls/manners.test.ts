import { describe, expect, it } from 'vitest'
import { freePort } from '../../../../test/support/free-port.js'
import {
  type AggregatorClient,
  createAggregatorClient,
  isRetryable,
  type QuoteParams,
} from '../../src/index.js'
import { ADDRESS, PARAMS as params, sampleOffer } from '../samples.js'
import { NO_ORDER, sendJson, serve } from '../server.js'

const ORDER_ID = NO_ORDER.orderId
const first = (items: AsyncIterable<unknown>) => items[Symbol.asyncIterator]().next()

const OFFER: Parameters<AggregatorClient['checkOffer']>[1] = {
  quote: { ...sampleOffer(1).quote, inputAmount: 1n, outputAmount: 1n, nonce: 0n, orderType: 'EXACT_INPUT' },
  signature: '0x12',
}
const QUOTE_ID = '9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d'

const SIGNED_RESULTS = {
  address: params.inputToken,
  audience: 'https://quotes.example',
  timestamp: 1,
  signature: `0x${'12'.repeat(65)}`,
} as const

/** Each method of a client that reads from an instance. */
const CALLS: readonly [string, (client: AggregatorClient, chainId: number) => Promise<unknown>][] = [
  ['getQuote', (client, chainId) => client.getQuote({ ...params, chainId })],
  ['streamQuotes', (client, chainId) => first(client.streamQuotes({ ...params, chainId }))],
  ['getPrice', (client, chainId) => client.getPrice({ ...params, chainId })],
  ['checkOffer', (client, chainId) => client.checkOffer(chainId, OFFER)],
  ['getQuoteRecord', (client, chainId) => client.getQuoteRecord(chainId, QUOTE_ID)],
  ['getOrder', (client, chainId) => client.getOrder(chainId, ORDER_ID)],
  ['listOrders', (client, chainId) => client.listOrders(chainId)],
  ['listAllOrders', (client, chainId) => first(client.listAllOrders(chainId))],
  ['listTokens', (client, chainId) => client.listTokens(chainId)],
  ['listPairs', (client, chainId) => client.listPairs(chainId)],
  ['listSolvers', (client, chainId) => client.listSolvers(chainId)],
  ['listSolverStats', (client, chainId) => client.listSolverStats(chainId)],
  ['getSolverStats', (client, chainId) => client.getSolverStats(chainId, ADDRESS)],
  [
    'listOwnResults',
    (client, chainId) => client.listOwnResults({ ...SIGNED_RESULTS, chainId }, { pageSize: 1 }),
  ],
  ['streamEvents', (client, chainId) => first(client.streamEvents({ chainIds: [chainId] }))],
  ['watchOrder', (client, chainId) => first(client.watchOrder(chainId, ORDER_ID))],
  ['waitForOrder', (client, chainId) => client.waitForOrder(chainId, ORDER_ID)],
]

describe.each(CALLS)('%s', (_name, call) => {
  it.each([['qa_key'], [''], [undefined]])(
    'sends the API key %j in its header and nowhere else',
    async (apiKey) => {
      const sent: { url: string | undefined; key: unknown; rest: string }[] = []
      const { url } = await serve(({ url: path, headers }, response) => {
        const { 'x-api-key': key, ...rest } = headers
        sent.push({ url: path, key, rest: JSON.stringify(rest) })
        sendJson(response, 400, { error: 'no', code: 'INVALID_ARGUMENT' })
      })
      await expect(call(createAggregatorClient({ baseUrl: url, apiKey }), 1)).rejects.toThrow()
      expect(sent.map(({ key }) => key)).toEqual(sent.map(() => apiKey || undefined))
      expect(sent.length).toBeGreaterThan(0)
      for (const { url: path, rest } of sent) expect(`${path} ${rest}`).not.toContain('qa_key')
    },
  )

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
    'rejects the chain id %s without a request',
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
  'createAggregatorClient rejects the base URL %s at once, with what it must be',
  (baseUrl) => {
    expect(() => createAggregatorClient({ baseUrl: baseUrl as string })).toThrow(
      expect.objectContaining({
        name: 'AggregatorError',
        reason: 'ANSWER_INVALID',
        violations: [
          {
            field: 'baseUrl',
            message: 'must be an http URL, such as https://quotes.example',
          },
        ],
      }),
    )
  },
)

it('the error for a quote without a connected wallet names every missing field', async () => {
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

  it('is sent with a quote, so that the service answers before it, and is 10 s by default', async () => {
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

describe('a base URL', () => {
  it('may be a URL object, and may have a path, a slash at its end, spaces around it, a query and a fragment', async () => {
    const paths: (string | undefined)[] = []
    const { url } = await serve((request, response) => {
      paths.push(request.url)
      sendJson(response, 200, [])
    })
    const { port } = new URL(url)
    for (const baseUrl of [new URL(url), `HTTP:\\\\127.0.0.1:${port}`, `${url}/a`, ` ${url}/a/?b#c\n`])
      await createAggregatorClient({ baseUrl }).listSolvers(1)
    expect(paths).toEqual(['/v1/1/solvers', '/v1/1/solvers', '/a/v1/1/solvers', '/a/v1/1/solvers'])
  })

  it.each([
    'https://user:secret@quotes.example',
    'https://secret@quotes.example',
    'https://:secret@quotes.example',
  ])('with credentials is refused without them: %s', (baseUrl) => {
    let thrown: unknown
    try {
      createAggregatorClient({ baseUrl })
    } catch (error) {
      thrown = error
    }
    expect(thrown).toMatchObject({
      reason: 'ANSWER_INVALID',
      violations: [{ field: 'baseUrl', message: expect.stringContaining('no user name and no password') }],
    })
    expect(`${(thrown as Error).stack} ${JSON.stringify(thrown)}`).not.toContain('secret')
  })
})

describe('an error', () => {
  it('names the URL and the code of the system when nothing answers', async () => {
    const port = await freePort()
    const client = createAggregatorClient({ baseUrl: `http://127.0.0.1:${port}/api` })
    await expect(client.listSolvers(1)).rejects.toMatchObject({
      reason: 'CONNECTION_FAILED',
      message: `No whole answer came from http://127.0.0.1:${port}/api: fetch failed (ECONNREFUSED).`,
    })
    const unknown = createAggregatorClient({ baseUrl: 'http://quotes.invalid' })
    await expect(unknown.listSolvers(1)).rejects.toThrow(
      /http:\/\/quotes\.invalid: fetch failed \((ENOTFOUND|EAI_AGAIN)\)/,
    )
  })

  it.each([
    ['an answer of another shape', 'application/json', '{"not":"a list"}'],
    ['an address that is none', 'application/json', '[{"address":"x","name":"a","registeredAt":1}]'],
    ['a stream of something else', 'text/event-stream', 'data: <html>\n\n'],
  ])('names the URL for %s', async (_name, type, body) => {
    const { url } = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': type }).end(body)
    })
    const client = createAggregatorClient({ baseUrl: url })
    const call = type.startsWith('text') ? first(client.streamEvents()) : client.listSolvers(1)
    const message = expect.stringContaining(url)
    await expect(call).rejects.toMatchObject({ reason: 'ANSWER_INVALID', message })
  })
})

describe('a newer instance', () => {
  it('sends enum values that the client passes on as their text', async () => {
    const order = {
      ...NO_ORDER,
      state: 'CANCELLED_BY_MOON',
      user: ADDRESS,
      solver: ADDRESS,
      inputToken: ADDRESS,
      inputAmount: '1',
      outputToken: ADDRESS,
      outputAmount: '1',
      outputChainId: 1,
      fillDeadline: 1,
    }
    const registered = { address: ADDRESS, check: { outcome: 'ECLIPSED', explanation: 'The moon.' } }
    const { url } = await serve(({ method }, response) =>
      sendJson(response, 200, method === 'POST' ? registered : order),
    )
    const client = createAggregatorClient({ baseUrl: url })
    expect(await client.getOrder(1, ORDER_ID)).toMatchObject({ state: 'CANCELLED_BY_MOON', user: ADDRESS })
    const signed = { chainId: 1, address: ADDRESS, endpointUrl: 'https://a.example', name: 'a' } as const
    const { check } = await client.registerSolver({
      ...signed,
      timestamp: 1,
      signature: SIGNED_RESULTS.signature,
    })
    expect(check?.outcome).toBe('ECLIPSED')
  })
})
