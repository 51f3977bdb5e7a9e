import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { user } from '../../support/chain/chain.js'
import { startQuotingService } from '../../support/service/quoting-service.js'
import { sendTo } from '../../support/service/service.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
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
})
