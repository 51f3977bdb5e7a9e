import { effect, signal } from '@preact/signals'
import type { Solver } from '../../../../../gen/aggregator/v1/solver_pb.js'
import { shorten } from '../../format/shorten.js'
import { solverService } from '../api.js'
import { chain } from '../chains.js'

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

/** @returns undefined when no active solver has this address */
export function solverName(address: string): string | undefined {
  return solvers.value.get(address.toLowerCase())?.name
}

/** A solver in words: its name, with its address where others look the same, or its address alone. */
export function nameOf(address: string): string {
  const name = solverName(address)
  if (name === undefined) return shorten(address)
  return needsAddress(address, name) ? `${name} ${shorten(address)}` : name
}

/** Whether a name does not tell a solver from the others: another one looks the same, or it has letters that may look like others. */
export function needsAddress(address: string, name: string): boolean {
  if (/[^\x20-\x7e]/.test(name)) return true
  const others = [...solvers.value.values()].filter(
    (solver) => solver.address.toLowerCase() !== address.toLowerCase(),
  )
  return others.some((other) => lookOf(other.name) === lookOf(name))
}

/** What a name looks like at a glance. */
function lookOf(name: string): string {
  return name
    .toLowerCase()
    .replace(/[\s._-]/g, '')
    .replace(/[1i|]/g, 'l')
    .replace(/0/g, 'o')
}

/** Without the list, addresses have no names. */
async function readSolvers(chainId: bigint): Promise<void> {
  const answer = await solverService.listSolvers({ chainId }).catch(() => undefined)
  if (answer === undefined) return
  chainIdOfList = chainId
  solvers.value = new Map(answer.solvers.map((solver) => [solver.address.toLowerCase(), solver]))
}
