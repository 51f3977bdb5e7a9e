import type { SolverKey } from '../../../packages/protocol/src/solvers/solver.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'

/** The used nonces of solvers in memory. Each solver has a bounded number, so that none can evict those of another. */
interface NonceSets {
  has(key: SolverKey, nonce: bigint): boolean
  /** Adds a nonce as the newest one of its solver, or removes it. */
  set(key: SolverKey, nonce: bigint, isUsed: boolean): void
  /** Replaces all nonces of a chain. @param used by solver, the oldest first */
  replace(chainId: number, used: ReadonlyMap<Address, readonly bigint[]>): void
}

/** Builds empty sets. @param maxNonces of one solver; of more, the oldest goes first */
export function createNonceSets(maxNonces: number): NonceSets {
  const chains = new Map<number, Map<Address, Set<bigint>>>()
  return {
    has: ({ chainId, address }, nonce) => chains.get(chainId)?.get(address)?.has(nonce) ?? false,
    set({ chainId, address }, nonce, isUsed) {
      const solvers = chains.get(chainId) ?? new Map<Address, Set<bigint>>()
      const nonces = solvers.get(address) ?? new Set()
      nonces.delete(nonce)
      if (isUsed) nonces.add(nonce)
      for (const oldest of nonces) {
        if (nonces.size <= maxNonces) break
        nonces.delete(oldest)
      }
      chains.set(chainId, solvers.set(address, nonces))
    },
    replace(chainId, used) {
      const solvers = new Map([...used].map(([solver, nonces]) => [solver, new Set(nonces)]))
      chains.set(chainId, solvers)
    },
  }
}
