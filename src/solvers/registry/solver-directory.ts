import { isDeepStrictEqual } from 'node:util'
import {
  askedSession,
  NO_ENDPOINT,
  type Solver,
  type SolverKey,
} from '../../../packages/protocol/src/solvers/solver.js'
import { startChainReloads } from '../../cluster/chain-reloads.js'
import type { InstanceContext } from '../../cluster/instance.js'
import { coalesce } from '../../concurrency/one-at-a-time.js'
import type { SolverStore } from '../../store/solvers/solver-store.js'
import type { Logger } from '../../telemetry/log.js'

/** The registered solvers of all chains in memory. A change is written to the store, then read from it. */
export interface SolverDirectory {
  /** All registered solvers of a chain, the longest registered first. The array never changes. Another one replaces it when the solvers differ. */
  registered(chainId: number): readonly Solver[]
  /**
   * The active solvers of a chain: those with a sufficient bond, and an endpoint or a session at any replica. They are the same at all
   * replicas. An array as of `registered`.
   */
  active(chainId: number): readonly Solver[]
  /** The active solvers that this replica can ask: at an endpoint, or on a session here or at a replica that it can ask. An array as of `registered`. */
  reachable(chainId: number): readonly Solver[]
  /** The solver, if it is registered. */
  find(key: SolverKey): Solver | undefined
  /** Adds a listener, which is called after each reload that has changed the solvers of a chain. */
  addListener(listener: SolverListener): void
  /**
   * Writes a change of a chain's solvers to the store, then reloads them.
   * @returns the result of the write, when this replica uses the changed solvers
   * @throws the error of the write, or of the reload, which is then repeated in the background
   */
  change<T>(chainId: number, write: () => Promise<T>): Promise<T>
  /** Reloads a chain's solvers in the background: another process may have changed them. */
  refresh(chainId: number): void
  /**
   * Lists the solvers of a chain without a session from now on, also while the store has it.
   * @returns a function that ends this; to be called when a reload has found the end of the session
   */
  hideSession(chainId: number, sessionId: string): () => void
  /** Sets whether sessions at a replica are asked. Without them, solvers there are asked at their endpoints, or not at all. */
  setReplicaAsked(replicaId: string, isAsked: boolean): void
  /** Stops following the changes of other replicas. */
  close(): Promise<void>
}

/** Receives all registered solvers of a chain. It must not throw. */
type SolverListener = (chainId: number, registered: readonly Solver[]) => void

/** Builds the directory from the store, and follows the changes that other replicas make there. */
export async function createSolverDirectory({
  config,
  instance,
  clock,
  log,
}: InstanceContext): Promise<SolverDirectory> {
  const { cluster, stores } = instance
  const chainIds = config.chains.map(({ chainId }) => chainId)
  const listeners: SolverListener[] = []
  /** Replicas that do not answer this one. */
  const skipped = new Set<string>()
  const chains = new Map(
    chainIds.map((chainId) => {
      const onChange = (registered: readonly Solver[]) => {
        for (const listener of listeners) listener(chainId, registered)
      }
      return [chainId, createSolverList(chainId, stores.solvers, log, skipped, onChange)] as const
    }),
  )
  const reloads = startChainReloads({
    cluster,
    topic: 'solvers',
    chainIds,
    reload: async (chainId) => chains.get(chainId)?.reload(),
    clock,
    log,
  })
  await Promise.all([...chains.values()].map((list) => list.reload()))

  const registered = (chainId: number): readonly Solver[] => chains.get(chainId)?.registered ?? NO_SOLVERS

  return {
    active: (chainId) => chains.get(chainId)?.active ?? NO_SOLVERS,
    reachable: (chainId) => chains.get(chainId)?.reachable ?? NO_SOLVERS,
    registered,
    find: ({ chainId, address }) => registered(chainId).find((solver) => solver.address === address),

    async change(chainId, write) {
      const list = chains.get(chainId)
      const result = await write()
      try {
        await list?.reload()
      } catch (error) {
        reloads.reload(chainId)
        throw error
      }
      return result
    },

    refresh: reloads.reload,
    addListener: (listener) => void listeners.push(listener),
    hideSession: (chainId, sessionId) => chains.get(chainId)?.hideSession(sessionId) ?? (() => {}),
    setReplicaAsked(replicaId, isAsked) {
      if (isAsked) skipped.delete(replicaId)
      else skipped.add(replicaId)
      for (const list of chains.values()) list.update()
    },
    close: reloads.close,
  }
}

/** A list without any solvers. */
const NO_SOLVERS: readonly Solver[] = []

/**
 * Builds the solvers of one chain in memory, without any before the first reload.
 * @param skipped replicas whose sessions are not asked
 * @param onChange called after each reload that has changed the solvers
 */
function createSolverList(
  chainId: number,
  store: SolverStore,
  log: Logger,
  skipped: ReadonlySet<string>,
  onChange: (registered: readonly Solver[]) => void,
) {
  /** As in the store. */
  let stored = NO_SOLVERS
  /** Sessions that have ended here, and whose end may not be stored yet. */
  const hidden = new Set<string>()

  /** One read at a time, so that no older state replaces a newer one. */
  const reload = coalesce(async () => {
    for (const solver of await store.removeBlocked(chainId))
      log.warn(
        { chainId, solver },
        'a solver was removed: the lists of the operator no longer let it register',
      )
    const before = list.registered
    stored = await store.readAll(chainId)
    update()
    for (const { address } of before) {
      if (!list.registered.some((solver) => solver.address === address))
        log.info({ chainId, solver: address }, 'a solver is no longer registered')
    }
    if (list.registered !== before) onChange(list.registered)
  })

  function update(): void {
    list.registered = keepEqual(list.registered, stored.map(withoutHidden).map(withoutSkipped))
    list.active = keepEqual(list.active, list.registered.filter(isActive))
    list.reachable = keepEqual(list.reachable, list.active.filter(isReachable))
  }

  function withoutHidden(solver: Solver): Solver {
    const { session, ...rest } = solver
    return session !== undefined && hidden.has(session.id) ? rest : solver
  }

  function withoutSkipped(solver: Solver): Solver {
    const { remoteSession } = solver
    if (remoteSession === undefined || !skipped.has(remoteSession.replicaId)) return solver
    return { ...solver, remoteSession: { ...remoteSession, isCutOff: true } }
  }

  const list = {
    /** Another array replaces each of these when its solvers differ. */
    registered: NO_SOLVERS,
    active: NO_SOLVERS,
    reachable: NO_SOLVERS,
    /** Reads the solvers from the store. The read begins after the call. */
    reload,
    /** Lists the solvers of the last read again. */
    update,
    /** Lists the solvers without a session from now on. @returns a function that ends this */
    hideSession(sessionId: string): () => void {
      hidden.add(sessionId)
      update()
      return () => void hidden.delete(sessionId)
    },
  }
  return list
}

function isActive(solver: Solver): boolean {
  return solver.isBonded && (isReachable(solver) || solver.remoteSession !== undefined)
}

function isReachable(solver: Solver): boolean {
  return solver.endpointUrl !== NO_ENDPOINT || askedSession(solver) !== undefined
}

/** Returns the list of before if nothing differs, because its readers compare lists by identity. */
function keepEqual(before: readonly Solver[], now: readonly Solver[]): readonly Solver[] {
  return isDeepStrictEqual(before, now) ? before : now
}
