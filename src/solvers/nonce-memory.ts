import { LRUCache } from 'lru-cache'
import type { Address } from '../domain/hex.js'

/** What is known about a nonce that a solver has sent. */
export type NonceState =
  /** It has not been sent before, or was unused a moment ago. */
  | 'fresh'
  /** It has been sent before, and was not checked on the chain recently. */
  | 'repeated'
  | 'used'
  /** It was used before blocks were removed. */
  | 'doubted'

/** The nonces of the solvers of one chain. Each solver has a bounded number, so that none can evict those of another. */
export interface NonceMemory {
  /** Records that a solver has sent a nonce. @param now milliseconds on a clock that never goes back */
  sent(solver: Address, nonce: bigint, now: number): NonceState
  /** Whether the nonce is known to be used, or was before blocks were removed. */
  hasUsed(solver: Address, nonce: bigint): boolean
  /** Records that the nonce is used or cancelled, as of the last block. */
  setUsed(solver: Address, nonce: bigint): void
  setUnused(solver: Address, nonce: bigint, now: number): void
  /** Puts every used nonce in doubt, as blocks may have been removed. */
  doubt(): void
}

interface NonceMemoryLimits {
  readonly maxSolvers: number
  /** The nonces of one solver, for used ones and sent ones each. */
  readonly maxNonces: number
}

/** How long an unused nonce counts as unused. */
const UNUSED_MS = 2000

/** The nonces of one solver. New ones that it sends never evict those that are known to be used. */
interface SolverNonces {
  /** By nonce, the number of doubts when it was last known to be used. */
  readonly used: LRUCache<bigint, number>
  /** By nonce, when it was last found unused; minus infinity when it was not checked. */
  readonly sent: LRUCache<bigint, number>
}

/** Builds an empty memory. */
export function createNonceMemory({ maxSolvers, maxNonces }: NonceMemoryLimits): NonceMemory {
  const solvers = new LRUCache<Address, SolverNonces>({ max: maxSolvers })
  let doubts = 0

  function noncesOf(solver: Address): SolverNonces {
    const known = solvers.get(solver)
    if (known !== undefined) return known
    const nonces = {
      used: new LRUCache<bigint, number>({ max: maxNonces }),
      sent: new LRUCache<bigint, number>({ max: maxNonces }),
    }
    solvers.set(solver, nonces)
    return nonces
  }

  return {
    sent(solver, nonce, now) {
      const { used, sent } = noncesOf(solver)
      const usedAt = used.get(nonce)
      if (usedAt !== undefined) return usedAt === doubts ? 'used' : 'doubted'
      const unusedAt = sent.get(nonce)
      if (unusedAt === undefined) sent.set(nonce, Number.NEGATIVE_INFINITY)
      return unusedAt === undefined || now - unusedAt < UNUSED_MS ? 'fresh' : 'repeated'
    },
    hasUsed: (solver, nonce) => solvers.peek(solver)?.used.has(nonce) ?? false,
    setUsed: (solver, nonce) => void noncesOf(solver).used.set(nonce, doubts),
    setUnused(solver, nonce, now) {
      const { used, sent } = noncesOf(solver)
      used.delete(nonce)
      sent.set(nonce, now)
    },
    doubt() {
      doubts++
    },
  }
}
