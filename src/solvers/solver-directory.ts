import { isDeepStrictEqual } from 'node:util'
import { coalesce } from '../concurrency/coalesce.js'
import type { ClusterBus } from '../domain/cluster.js'
import type { Address } from '../domain/hex.js'
import type { Solver, SolverKey } from '../domain/solver.js'
import type { SolverStore } from '../store/solver-store.js'
import type { Logger } from '../telemetry/log.js'
import { followReplicas } from './follow-replicas.js'

/** The registered solvers of all chains in memory. A change is written to the store, then read from it. */
export interface SolverDirectory {
  /**
   * The active solvers of a chain, the longest registered first. The array never changes. Another one replaces it when
   * the solvers differ.
   */
  active(chainId: number): readonly Solver[]
  /** All registered solvers of a chain, also those without a sufficient bond. */
  registered(chainId: number): readonly Solver[]
  /** The solver, if it is registered. */
  find(key: SolverKey): Solver | undefined
  /**
   * Writes a change of a chain's solvers to the store, then reloads them.
   * @param mayRemove the solvers that the write may remove; no log line attributes their removal to another process
   * @returns the result of the write, when this replica uses the changed solvers
   * @throws the error of the write, or of the reload, which is then repeated in the background
   */
  change<T>(chainId: number, write: () => Promise<T>, mayRemove?: readonly Address[]): Promise<T>
  /** Reloads a chain's solvers in the background: another process may have changed them. */
  refresh(chainId: number): void
  /** Stops following the changes of other replicas. */
  close(): Promise<void>
}

interface SolverDirectoryOptions {
  readonly store: Pick<SolverStore, 'readAll' | 'removeBlocked'>
  readonly cluster: Pick<ClusterBus, 'listen'>
  readonly chainIds: readonly number[]
  readonly log: Logger
}

/** Builds the directory from the store, and follows the changes that other replicas make there. */
export async function createSolverDirectory(options: SolverDirectoryOptions): Promise<SolverDirectory> {
  const { chainIds } = options
  const chains = new Map(chainIds.map((chainId) => [chainId, createSolverList(chainId, options)]))
  const follower = followReplicas({
    ...options,
    topic: 'solvers',
    reload: async (chainId) => chains.get(chainId)?.reload(),
  })
  await Promise.all([...chains.values()].map((list) => list.reload()))

  const registered = (chainId: number) => chains.get(chainId)?.registered() ?? NO_SOLVERS

  return {
    active: (chainId) => chains.get(chainId)?.active() ?? NO_SOLVERS,
    registered,
    find: ({ chainId, address }) => registered(chainId).find((solver) => solver.address === address),

    async change(chainId, write, mayRemove = []) {
      const list = chains.get(chainId)
      if (list === undefined) return write()
      const result = await list.write(write, mayRemove)
      try {
        await list.reload()
      } catch (error) {
        follower.reload(chainId)
        throw error
      }
      return result
    },

    refresh: follower.reload,
    close: follower.close,
  }
}

const NO_SOLVERS: readonly Solver[] = []

/** A write of this replica to the solvers of a chain. */
interface OwnWrite {
  readonly mayRemove: readonly Address[]
  isDone: boolean
}

/** Builds the solvers of one chain, without any before the first reload. */
function createSolverList(chainId: number, { store, log }: SolverDirectoryOptions) {
  let registered = NO_SOLVERS
  let active = NO_SOLVERS
  /** The writes whose removals no reload has found yet. */
  const ownWrites = new Set<OwnWrite>()

  /** One read at a time, so that no older state replaces a newer one. */
  const reload = coalesce(async () => {
    const done = [...ownWrites].filter(({ isDone }) => isDone)
    for (const solver of await store.removeBlocked(chainId))
      log.warn({ chainId, solver }, 'a blocked solver was removed: another version has registered it')
    replace(await store.readAll(chainId))
    for (const write of done) ownWrites.delete(write)
  })

  function replace(stored: readonly Solver[]): void {
    const before = registered
    registered = keepEqual(before, stored)
    active = keepEqual(
      active,
      registered.filter(({ isBonded }) => isBonded),
    )
    for (const { address } of before) {
      if (!registered.some((solver) => solver.address === address)) logRemoval(address)
    }
  }

  /** Another process has removed it: the command line, or another replica. */
  function logRemoval(solver: Address): void {
    if ([...ownWrites].some(({ mayRemove }) => mayRemove.includes(solver))) return
    log.info({ chainId, solver }, 'a solver was removed in the database')
  }

  return {
    registered: () => registered,
    active: () => active,
    reload,

    /** Notes the removals before the write, because a reload for another change may find them before its end. */
    async write<T>(write: () => Promise<T>, mayRemove: readonly Address[]): Promise<T> {
      const own: OwnWrite = { mayRemove, isDone: false }
      ownWrites.add(own)
      try {
        const result = await write()
        own.isDone = true
        return result
      } catch (error) {
        ownWrites.delete(own)
        throw error
      }
    },
  }
}

/** Returns the list of before if nothing differs, because its readers compare lists by identity. */
function keepEqual(before: readonly Solver[], now: readonly Solver[]): readonly Solver[] {
  return isDeepStrictEqual(before, now) ? before : now
}
