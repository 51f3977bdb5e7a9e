import { expect, it, onTestFinished } from 'vitest'
import { solverAccounts, startChain } from '../../support/chain/chain.js'
import { startReadyService } from '../../support/service/ready-service.js'
import { grpc } from '../../support/sessions/session-connections.js'
import { openSession, silent } from '../../support/sessions/session-solver.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'

/** More than 256 KiB and a window of HTTP/2, of requests that have about 400 bytes. */
const ENOUGH = 1500
/** Few enough that all can begin within their short time. */
const AT_ONCE = 20

it('a solver that reads nothing gets no more requests, and is cut off after 10 seconds', async () => {
  const chain = await startChain({ bonded: 1 })
  onTestFinished(chain.stop)
  const service = await startReadyService([chain], { QUOTE_TIMEOUT_MS: '200' })
  onTestFinished(() => service.close())
  const session = await openSession(service.url, chain, solverAccounts[0], {
    transport: grpc,
    behaviour: silent,
  })
  session.pause()
  const ask = () => service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
  let congestedId = ''
  for (let asked = 0; asked < ENOUGH && congestedId === ''; asked += AT_ONCE) {
    const quotes = await Promise.all(Array.from({ length: AT_ONCE }, ask))
    const { quoteId } = quotes.at(-1)?.body ?? {}
    const { body } = await service.get(`/v1/${chain.chainId}/quote/${quoteId}`)
    if (body.solvers?.[0]?.reason === 'session_congested') congestedId = quoteId
  }
  expect(congestedId).not.toBe('')
  // What the connection can still take leaves room for more requests, after which the 10 seconds begin again.
  const askMore = async () => {
    await Promise.all(Array.from({ length: AT_ONCE }, ask))
    return service.metric('aggregator_solver_session_ends_total', { reason: 'SESSION_STALLED' })
  }
  await expect.poll(askMore).toBe(1)
  expect((await service.get(`/v1/${chain.chainId}/solvers`)).body).toEqual([])
})
