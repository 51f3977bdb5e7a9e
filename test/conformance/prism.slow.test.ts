import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { user } from '../support/chain/chain.js'
import { freePort } from '../support/free-port.js'
import { startProcess } from '../support/process/process.js'
import { startQuotingService } from '../support/service/quoting-service.js'
import { sendTo } from '../support/service/service.js'
import { quoteRequest } from '../support/solvers/quote-request.js'

const PRISM = '@stoplight/prism-cli@5.16.0'
const canBeHad = spawnSync('npx', ['--yes', PRISM, '--version']).status === 0

// Skipped where Prism cannot be downloaded.
describe.skipIf(!canBeHad)('Prism, as a validating proxy of the served /openapi.json', () => {
  let quoting: Awaited<ReturnType<typeof startQuotingService>>
  let prism: ReturnType<typeof startProcess>
  let url: string

  beforeAll(async () => {
    quoting = await startQuotingService('2000')
    const port = await freePort()
    const { service } = quoting
    const options = ['--errors', '--host', '127.0.0.1', '--port', String(port)]
    const args = ['--yes', PRISM, 'proxy', `${service.url}/openapi.json`, service.url, ...options]
    prism = startProcess('npx', args, {}, { ownGroup: true })
    await prism.waitFor(/Prism is listening/)
    url = `http://127.0.0.1:${port}`
  })
  afterAll(async () => {
    const pid = prism?.child.pid
    if (pid !== undefined) process.kill(-pid, 'SIGTERM')
    await prism?.exited
    await quoting?.close()
  })

  it('finds no violation in requests and responses', async () => {
    const { chain } = quoting
    const { get, post } = sendTo(url)
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
    expect(answers.map(({ status, body }) => (status === 200 ? 200 : body))).toEqual(answers.map(() => 200))
  })

  it('reports a request that the document does not allow', async () => {
    const { chain } = quoting
    const { body } = await sendTo(url).post(`/v1/${chain.chainId}/quote`, {
      ...quoteRequest(chain),
      amount: '1e2',
    })
    expect(body).toContain('https://stoplight.io/prism/errors#')
  })
})
