import * as deployed from './deployed-settlement.js'
import type { Settlement } from './settlement.js'

/**
 * The chains whose settlement contract has another ABI than that of `deployed-settlement.ts`, each with the module of its
 * contract. The service, the command line and the kit of solvers take every function and event from here.
 */
const OTHERS: ReadonlyMap<number, Settlement> = new Map()

/** The functions and events of a chain's settlement contract. */
export function settlementOf(chainId: number): Settlement {
  return OTHERS.get(chainId) ?? deployed
}

/**
 * The contract of a build for browsers: the client and the console. They import each function by its name, so that a bundle has
 * only what it uses. A build for contracts with another ABI exports the module of these contracts in its place.
 */
export * from './deployed-settlement.js'
