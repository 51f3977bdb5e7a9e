import { afterAll, beforeAll, expect } from 'vitest'
import { solverAccounts, type TestChain } from '../chain/chain.js'
import { startModelChain } from '../model-chain/start-model-chain.js'
import { type Metrics, readMetrics } from '../service/metrics.js'
import { startService, type TestService } from '../service/service.js'
import type { MalformedSolver } from './malformed-solvers.js'
import { quoteRequest } from './quote-request.js'
import { startRawSolver, startTrap, type Trap } from './raw-solver.js'
import { honest, register, startSolver, type TestSolver } from './solver.js'

const [goodAccount, badAccount] = solverAccounts

/** A service with an honest solver, where malformed solvers are tried one after the other. */
export function useHonestSolver({ quoteTimeoutMs }: { readonly quoteTimeoutMs: number }) {
  let chain: TestChain
  let service: TestService
  let good: TestSolver
  let trap: Trap
  /** The counts of replies at the last look. No other quotes change them. */
  let counts: Metrics

  async function restart(): Promise<void> {
    await service?.close()
    service = await startService(chain, { QUOTE_TIMEOUT_MS: String(quoteTimeoutMs) })
    await good.register(service)
    counts = await readMetrics(service.url)
  }

  beforeAll(async () => {
    chain = await startModelChain({ bonded: 2 })
    good = await startSolver(chain, goodAccount, honest({ output: '1000' }))
    await restart()
    trap = await startTrap()
  })

  afterAll(async () => {
    await service?.close()
    await Promise.all([good?.close(), trap?.close()])
    await chain?.stop()
  })

  return {
    /** Starts the service again, which forgets the time that a solver has cost. */
    restart,
    /** How often the service has followed a redirect. */
    trapped: () => trap.visits(),
    async start(malformedSolver: MalformedSolver) {
      const bad = await startRawSolver(chain, badAccount, malformedSolver, trap.port)
      await register(service, chain.chainId, badAccount, { endpointUrl: bad.endpointUrl })
      bad.serve()
      return bad
    },
    /** Requests a quote, compares the result with what the malformed solver must get, and returns the time that it took. */
    async quoteBeside(malformedSolver: MalformedSolver): Promise<number> {
      const [outcome = '', reason = ''] = malformedSolver.outcome.split(' ')
      const counted: Record<string, string> = outcome === 'invalid' ? { outcome, reason } : { outcome }
      const before = counts.sum('aggregator_solver_replies_total', counted)
      const start = performance.now()
      const { status, body } = await service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
      const elapsedMs = performance.now() - start

      expect([status, body.quote?.solver]).toEqual([200, goodAccount.address])
      const others = body.alternativeQuotes.map(({ quote }: { quote: { solver: string } }) => quote.solver)
      expect(others).toEqual(outcome === 'quoted' ? [badAccount.address] : [])
      counts = await readMetrics(service.url)
      const after = counts.sum('aggregator_solver_replies_total', counted)
      expect(after - before, malformedSolver.outcome).toBe(outcome === 'quoted' ? 2 : 1)
      const { body: record } = await service.get(`/v1/${chain.chainId}/quote/${body.quoteId}`)
      const told = { solver: badAccount.address, outcome: outcome.toUpperCase(), ...(reason && { reason }) }
      expect(record.solvers).toContainEqual(expect.objectContaining(told))
      return elapsedMs
    },
  }
}
