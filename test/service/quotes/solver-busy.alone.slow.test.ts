import { describe, expect, it } from 'vitest'
import { startChain } from '../../support/chain/chain.js'
import { eventually } from '../../support/eventually.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import type { Behaviour } from '../../support/solvers/solver.js'
import {
  healthyFaulty,
  holdBack,
  startSolvers,
  startWithSolvers,
} from '../../support/solvers/three-solvers.js'

const MAX_CONNECTIONS = 2
const QUOTE_TIMEOUT_MS = 2000
/** The delay of solvers here: half of the requests would not fit into the timeout one after the other. */
const TAKES_MS = 400

const chain = await shared(startChain({ bonded: 3 }))

const slow: Behaviour = async (...parameters) => {
  await new Promise((resolve) => setTimeout(resolve, TAKES_MS))
  return healthyFaulty(...parameters)
}
const environment = {
  MAX_CONNECTIONS_PER_SOLVER: String(MAX_CONNECTIONS),
  QUOTE_TIMEOUT_MS: String(QUOTE_TIMEOUT_MS),
}
const times = <T>(count: number, run: () => Promise<T>) => Promise.all(Array.from({ length: count }, run))

/** Three solvers, one of them slow and with a delay that the service knows. */
async function openSlowFixture() {
  const { faulty } = await startSolvers(chain)
  faulty.behave(slow)
  const fixture = await startWithSolvers(chain, [faulty], environment)
  await fixture.quote()
  const waiting = () => fixture.service.metric('aggregator_solver_requests_queued', {})
  return { ...fixture, faulty, waiting }
}

describe('when all connections to a solver are in use', () => {
  it('quotes that none can serve in time are rejected at once, with a time to retry', async () => {
    const { service, faulty, quote, measured, waiting } = await openSlowFixture()
    const { behaviour, letGo } = holdBack()
    faulty.behave(behaviour)
    const taken = times(2 * MAX_CONNECTIONS, () => quote())
    await eventually(waiting, (count) => count === MAX_CONNECTIONS)
    const start = performance.now()
    const refused = await service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
    expect(performance.now() - start).toBeLessThan(QUOTE_TIMEOUT_MS / 2)
    expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([
      503,
      'SOLVERS_BUSY',
      '1',
    ])
    expect(refused.body.error).toMatch(/^All connections to solvers are in use/)
    expect(faulty.asks.length).toBe(1 + MAX_CONNECTIONS)
    letGo()
    expect((await taken).map(({ offers }) => offers)).toEqual(Array(2 * MAX_CONNECTIONS).fill(['faulty']))
    expect(await measured()).toMatchObject({ circuitOpen: 0 })
    expect(await service.metric('aggregator_quotes_total', { outcome: 'busy' })).toBe(1)
    expect((await quote()).offers).toEqual(['faulty'])
  })
})
