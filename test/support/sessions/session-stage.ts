import type { LocalAccount } from 'viem'
import { afterEach } from 'vitest'
import type { AppOverrides } from '../../../src/app/app.js'
import { startModelChain } from '../model-chain/start-model-chain.js'
import { startService, type TestService } from '../service/service.js'
import { shared } from '../shared.js'
import { quoteRequest } from '../solvers/quote-request.js'
import { openSession, type SessionSolver } from './session-solver.js'

/** Starts a chain, and lets each test start a service of its own, and sessions with it, which end after the test. */
export async function startSessionStage(bonded = 2) {
  const chain = await shared(startModelChain({ bonded }))
  let service: TestService
  let sessions: SessionSolver[] = []

  afterEach(async () => {
    for (const session of sessions) session.leave()
    sessions = []
    await service?.close()
  })

  return {
    chain,
    async start(environment: Record<string, string> = {}, overrides: AppOverrides = {}) {
      service = await startService(chain, environment, overrides)
      await service.ready()
      return service
    },
    async open(solver: LocalAccount, options: Parameters<typeof openSession>[3] = {}) {
      const session = await openSession(service.url, chain, solver, options)
      sessions.push(session)
      return session
    },
    ask: () => service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain)),
    /** The solvers that the service lists. */
    listed: async () => (await service.get(`/v1/${chain.chainId}/solvers`)).body,
  }
}
