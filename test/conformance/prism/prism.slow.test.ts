import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { user } from '../../support/chain/chain.js'
import { startQuotingService } from '../../support/service/quoting-service.js'
import { sendTo } from '../../support/service/service.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import type { Exchange } from './exchange.js'
import { judgeExchanges } from './judge.js'
import { hasPrism, startPrism } from './prism.js'

describe.skipIf(!hasPrism())('Prism (needs it from npm)', () => {
  let quoting: Awaited<ReturnType<typeof startQuotingService>>
  let prism: Awaited<ReturnType<typeof startPrism>>

  beforeAll(async () => {
    quoting = await startQuotingService('2000')
    prism = await startPrism(quoting.service.url)
  })
  afterAll(async () => {
    await prism?.close()
    await quoting?.close()
  })

  it('finds no violation while it is a proxy in front of the service', async () => {
    const { chain } = quoting
    const { get, post } = sendTo(prism.url)
    const of = `/v1/${chain.chainId}`
    const request = quoteRequest(chain)
    const { userAddress: _, ...price } = request
    const quote = await post(`${of}/quote`, request)
    expect(quote.body).toMatchObject({ quote: { outputAmount: '2000' } })
    const answers = [
      quote,
      await post(`${of}/quote`, { ...request, includeCalls: true }),
      await post(`${of}/price`, price),
      await get(`${of}/quote/${quote.body.quoteId}`),
      await get(`${of}/order/${quote.body.orderId}`),
      await get(`${of}/orders?user=${user.address}`),
      await get(`${of}/solvers`),
      await get(`${of}/solvers/stats?window=24h`),
      await get(`${of}/solvers/${quote.body.quote.solver}/stats?window=1h`),
      await get(`${of}/tokens`),
      await get(`${of}/pairs`),
      await get('/v1/chains'),
      await get('/health'),
    ]
    for (const { status, headers } of answers)
      expect([status, headers.get('sl-violations')]).toEqual([200, null])
  })

  it('judges recorded exchanges', async () => {
    const { chain, service } = quoting
    const { body } = await service.get('/v1/chains')
    const chains = exchange({ url: '/v1/chains', response: body })
    const wrongRequest = { ...quoteRequest(chain), amount: '1e2' }
    const url = `/v1/${chain.chainId}/quote`
    const refusal = await service.post(url, wrongRequest)
    const refused = exchange({ url, request: wrongRequest, status: 400, response: refusal.body })
    const { chainId: _, ...withoutId } = body.chains[0]
    const exchanges = [
      chains,
      exchange({ url: '/v1/chains', response: { chains: [withoutId] } }),
      exchange({ url: '/v1/chains', status: 418, response: refusal.body }),
      refused,
      { ...refused, status: 200 },
      exchange({ url: '/v1/nothing', status: 404, response: refusal.body }),
      exchange({ url: '/v1/%', status: 404, response: refusal.body }),
    ]
    expect(await judgeExchanges(exchanges, readFileSync('gen/openapi.json', 'utf8'))).toEqual([
      { kind: 'passed' },
      { kind: 'failed', reason: expect.stringContaining("must have required property 'chainId'") },
      { kind: 'failed', reason: expect.stringContaining('status code') },
      { kind: 'passed' },
      { kind: 'failed', reason: expect.stringContaining('amount') },
      { kind: 'not applicable', reason: 'The document has no such path and method.' },
      { kind: 'not applicable', reason: expect.stringContaining('no plain path') },
    ])
  })
})

/** An exchange as it would be recorded. */
function exchange({
  url = '',
  request = undefined as object | undefined,
  status = 200,
  response = {},
}): Exchange {
  const encode = (value: object | undefined) =>
    value === undefined ? '' : Buffer.from(JSON.stringify(value)).toString('base64')
  return {
    method: request === undefined ? 'GET' : 'POST',
    url,
    requestHeaders: request === undefined ? [] : ['content-type', 'application/json'],
    requestBody: encode(request),
    status,
    responseHeaders: [
      'x-request-id',
      '0123456789abcdef-1',
      'content-type',
      'application/json; charset=utf-8',
    ],
    responseBody: encode(response),
  }
}
