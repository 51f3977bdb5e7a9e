import { effect, signal } from '@preact/signals'
import type { Solver } from '../../../../gen/aggregator/v1/solver_pb.js'
import { solverService } from './api.js'
import { chain } from './chains.js'

/** The active solvers of the chain that the page shows, by address in lower case. */
export const solvers = signal<ReadonlyMap<string, Solver>>(new Map())
let chainIdOfList: bigint | undefined

/** Reads the solvers when the chain changes, so that their names are known. */
export function followSolvers(): void {
  effect(() => {
    const chainId = chain.value?.chainId
    if (chainId !== undefined && chainId !== chainIdOfList) void readSolvers(chainId)
  })
}

/** Reads the solvers again. @throws what the call throws */
export async function refreshSolvers(chainId: bigint, signal?: AbortSignal): Promise<readonly Solver[]> {
  const answer = await solverService.listSolvers({ chainId }, signal === undefined ? {} : { signal })
  chainIdOfList = chainId
  solvers.value = new Map(answer.solvers.map((solver) => [solver.address.toLowerCase(), solver]))
  return answer.solvers
}

/** @returns undefined when no active solver has this address */
export function solverName(address: string): string | undefined {
  return solvers.value.get(address.toLowerCase())?.name
}

/** Without the list, addresses have no names: pages that need it call again. */
async function readSolvers(chainId: bigint): Promise<void> {
  await refreshSolvers(chainId).catch(() => {})
}
