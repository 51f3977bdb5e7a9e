import { solverAccounts } from '../chain/chain.js'
import { startModelChain } from '../model-chain/start-model-chain.js'
import { honest, startSolver } from '../solvers/solver.js'
import { startEventService } from './event-service.js'

/**
 * A chain, a service that polls it often, and a registered solver.
 * @param output what the solver offers, in the token's smallest unit
 */
export async function startQuotingService(output: string) {
  const chain = await startModelChain({ bonded: 3 })
  const service = await startEventService([chain])
  const solver = await startSolver(chain, solverAccounts[0], honest({ output }))
  await solver.register(service)

  return {
    chain,
    service,
    async close(): Promise<void> {
      await service.close()
      await solver.close()
      await chain.stop()
    },
  }
}
