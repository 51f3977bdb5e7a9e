import type { AppOverrides } from '../../../src/app/app.js'
import { solverAccounts } from '../chain/chain.js'
import { startModelChain } from '../model-chain/start-model-chain.js'
import { shared } from '../shared.js'
import { quoteRequest } from '../solvers/quote-request.js'
import { startSolver, type TestSolver } from '../solvers/solver.js'
import { startService } from './service.js'

interface SceneOptions<Names> {
  /** Of solvers with endpoints, which are registered in this order and offer 1000. */
  readonly solvers?: Names
  /** How many accounts have a bond. Those of the solvers do. */
  readonly bonded?: number
  /** Variables of the service. */
  readonly environment?: Record<string, string>
  readonly overrides?: AppOverrides
}

/** Starts what most tests of a service share: a model chain, the service, and solvers that it asks. It ends after the tests of the file. */
export async function startScene<const Names extends readonly string[] = []>(
  options: SceneOptions<Names> = {},
) {
  const names: readonly string[] = options.solvers ?? []
  const chain = await shared(startModelChain({ bonded: options.bonded ?? names.length }))
  const service = await shared(startService(chain, options.environment, options.overrides))
  const solvers: TestSolver[] = []
  for (const account of solverAccounts.slice(0, names.length)) {
    const solver = await shared(startSolver(chain, account))
    await solver.register(service, names[solvers.length])
    solvers.push(solver)
  }

  return {
    chain,
    service,
    solvers: solvers as unknown as { readonly [Index in keyof Names]: TestSolver },
    /** Asks for a quote of 1 WETH. @param changes of the request */
    ask: (changes: object = {}, init: RequestInit = {}) =>
      service.post(`/v1/${chain.chainId}/quote`, { ...quoteRequest(chain), ...changes }, init),
  }
}
