import type { Address } from '../../../packages/protocol/src/values/hex.js'

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

/** A change of one value. */
export interface Step {
  undo(): void
  redo(): void
}

/** What calls change, so that a call that reverts, or is only simulated, changes nothing. */
export interface Journal {
  /** Sets a value of a map. */
  set<K, V>(map: Map<K, V>, key: K, value: V): void
  emit(log: ModelLog): void
  /**
   * Runs a call. What it has changed stays unless it throws.
   * @returns its logs, and its steps in their order
   * @throws what the call throws
   */
  run(call: () => void): { readonly logs: readonly ModelLog[]; readonly steps: readonly Step[] }
  /** As `run`, but nothing stays. */
  simulate<T>(call: () => T): T
}

/** Builds an empty journal. Calls inside of others share theirs. */
export function createJournal(): Journal {
  let steps: Step[] = []
  let logs: ModelLog[] = []

  function rollBack(): void {
    for (const step of steps.toReversed()) step.undo()
    steps = []
    logs = []
  }

  return {
    set(map, key, value) {
      const had = map.has(key)
      const before = map.get(key)
      const redo = () => void map.set(key, value)
      steps.push({ undo: () => void (had ? map.set(key, before as typeof value) : map.delete(key)), redo })
      redo()
    },
    emit: (log) => void logs.push(log),
    run(call) {
      try {
        call()
        const done = { logs, steps }
        steps = []
        logs = []
        return done
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
