import type { Address } from '../../src/domain/hex.js'

/** A revert with a custom error, or with a panic of Solidity (`Panic`, its code). */
export class Revert extends Error {
  readonly errorName: string
  readonly args: readonly unknown[]

  constructor(errorName: string, args: readonly unknown[] = []) {
    super(`reverted with ${errorName}(${args.join(', ')})`)
    this.errorName = errorName
    this.args = args
  }
}

/** A log that a call has written, with the names of its contract's interface. */
export interface ModelLog {
  readonly address: Address
  readonly eventName: string
  readonly args: Readonly<Record<string, unknown>>
}

/** What calls change, so that a call that reverts, or is only simulated, changes nothing. */
export interface Journal {
  /** Sets a value of a map. */
  set<K, V>(map: Map<K, V>, key: K, value: V): void
  emit(log: ModelLog): void
  /**
   * Runs a call. What it has changed stays unless it throws.
   * @returns its result and its logs
   * @throws what the call throws
   */
  run<T>(call: () => T): { readonly result: T; readonly logs: readonly ModelLog[] }
  /** As `run`, but nothing stays. */
  simulate<T>(call: () => T): T
}

/** Builds an empty journal. Calls inside of others share theirs. */
export function createJournal(): Journal {
  let undo: (() => void)[] = []
  let logs: ModelLog[] = []

  function rollBack(): void {
    for (const step of undo.toReversed()) step()
    undo = []
    logs = []
  }

  return {
    set(map, key, value) {
      const had = map.has(key)
      const before = map.get(key)
      undo.push(() => void (had ? map.set(key, before as typeof value) : map.delete(key)))
      map.set(key, value)
    },
    emit: (log) => void logs.push(log),
    run(call) {
      try {
        const result = call()
        const written = logs
        undo = []
        logs = []
        return { result, logs: written }
      } catch (error) {
        rollBack()
        throw error
      }
    },
    simulate(call) {
      try {
        return call()
      } finally {
        rollBack()
      }
    },
  }
}
