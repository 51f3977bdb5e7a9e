import { once } from 'node:events'
import { type ClientHttp2Session, connect } from 'node:http2'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
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
  return { service, quote, faulty, session }
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
  return { status: headers[':status'], retryAfter: headers['retry-after'], body: JSON.parse(text) }
}

const times = <T>(count: number, run: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => run(index)))

describe('when more quotes come at once than can be served in time', () => {
  it('the others are rejected before any solver is asked, with a time to retry', async () => {
    const { service, faulty, session, quote } = await openOverloadFixture()
    const path = `/v1/${chain.chainId}/quote`
    const [answers, health] = await Promise.all([
      times(BURST, () => post(session, path, quoteRequest(chain))),
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
})
