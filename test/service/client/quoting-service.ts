import { solverAccounts } from '../../support/chain/chain.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService } from '../../support/service/service.js'
import { honest, startSolver } from '../../support/solvers/solver.js'

/**
 * A chain, its service, and a registered solver.
 * @param output what the solver offers, in the token's smallest unit
 */
export async function startQuotingService(output: string) {
  const chain = await startModelChain({ bonded: 3 })
  const service = await startService(chain)
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
