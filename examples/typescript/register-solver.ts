/** Registers a solver with an aggregator. The solver must have its bond on the settlement contract. */
import { createAggregatorClient, type ListedSolver, signRegistration } from '@quote-aggregator/client'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

/** What a solver registers. */
export interface SolverOptions {
  readonly aggregatorUrl: string
  readonly chainId: number
  readonly privateKey: Hex
  /** The aggregator posts to `<endpointUrl>/quote`. */
  readonly endpointUrl: string
  readonly name: string
}

/**
 * Registers the solver. The aggregator sends the endpoint one request. The console shows its result, unless it is a valid quote.
 * @returns the solver as the aggregator lists it
 */
export async function registerSolver(options: SolverOptions): Promise<ListedSolver | undefined> {
  const { aggregatorUrl, chainId, privateKey } = options
  const aggregator = createAggregatorClient({ baseUrl: aggregatorUrl })
  const registration = await signRegistration(privateKeyToAccount(privateKey), options)
  const { address, check } = await aggregator.registerSolver(registration)
  if (check !== undefined && check.outcome !== 'QUOTED')
    console.warn(`${check.outcome}: ${check.explanation}`)
  const solvers = await aggregator.listSolvers(chainId)
  return solvers.find((solver) => solver.address === address)
}
