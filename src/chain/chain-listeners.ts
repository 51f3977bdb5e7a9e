import type { SolverNonce } from '../../packages/protocol/src/settlement.js'
import type { Address } from '../domain/values/hex.js'

/** Receives what may change state that was read from the contract. Only the leader of the chain reports it. */
export interface ChainListener {
  /** The free bonds of these solvers may have changed; undefined means all solvers. Addresses are in lower case. */
  onBonds(solvers: ReadonlySet<Address> | undefined): void
  onNoncesCancelled(nonces: readonly SolverNonce[]): void
  /**
   * All state may be wrong, because a reorganisation has removed blocks. Each replica also reports it when its leadership
   * begins or ends.
   */
  onReset(): void
}

/** The listeners of one chain. Those that need no answer of the chain join before its start, the others later. */
export interface ChainListeners {
  /** Adds a listener until the chain closes. It replaces no other one. */
  add(listener: Partial<ChainListener>): void
  /** Calls all listeners in the order in which they were added. */
  readonly notify: ChainListener
}

/** Builds the list, empty at first. */
export function createChainListeners(): ChainListeners {
  const listeners: Partial<ChainListener>[] = []
  return {
    add(listener) {
      listeners.push(listener)
    },
    notify: {
      onBonds(solvers) {
        for (const listener of listeners) listener.onBonds?.(solvers)
      },
      onNoncesCancelled(nonces) {
        for (const listener of listeners) listener.onNoncesCancelled?.(nonces)
      },
      onReset() {
        for (const listener of listeners) listener.onReset?.()
      },
    },
  }
}
