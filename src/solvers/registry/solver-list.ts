import { isDeepStrictEqual } from 'node:util'
import { coalesce } from '../../concurrency/one-at-a-time.js'
import { askedSession, NO_ENDPOINT, type Solver } from '../../domain/solvers/solver.js'
import type { SolverStore } from '../../store/solvers/solver-store.js'
import type { Logger } from '../../telemetry/log.js'

/** The solvers of one chain in memory. */
export interface SolverList {
  /** All registered solvers. */
  registered(): readonly Solver[]
  /** Those that are listed. Another array replaces it when they differ. */
  active(): readonly Solver[]
  /** Those that this replica asks. Another array replaces it when they differ. */
  reachable(): readonly Solver[]
  /** Reads the solvers from the store. The read begins after the call. */
  reload(): Promise<void>
  /** Lists the solvers without a session from now on. @returns a function that ends this */
  hideSession(sessionId: string): () => void
  /** Asks no session at a replica from now on. @returns a function that ends this */
  skipReplica(replicaId: string): () => void
}

interface SolverListOptions {
  readonly store: Pick<SolverStore, 'readAll' | 'removeBlocked'>
  readonly log: Logger
  /** Called after each reload that has changed the solvers. */
  readonly onChange: (registered: readonly Solver[]) => void
}

/** A list without any solvers. */
export const NO_SOLVERS: readonly Solver[] = []

/** Builds the solvers of one chain, without any before the first reload. */
export function createSolverList(chainId: number, { store, log, onChange }: SolverListOptions): SolverList {
  let registered = NO_SOLVERS
  let active = NO_SOLVERS
  let reachable = NO_SOLVERS
  /** Sessions that have ended here, and whose end may not be stored yet. */
  const hidden = new Set<string>()
  /** Replicas that do not answer this one. */
  const skipped = new Set<string>()

  /** One read at a time, so that no older state replaces a newer one. */
  const reload = coalesce(async () => {
    for (const solver of await store.removeBlocked(chainId))
      log.warn(
        { chainId, solver },
        'a solver was removed: the lists of the operator no longer let it register',
      )
    const before = registered
    list(await store.readAll(chainId))
    for (const { address } of before) {
      if (!registered.some((solver) => solver.address === address))
        log.info({ chainId, solver: address }, 'a solver is no longer registered')
    }
    if (registered !== before) onChange(registered)
  })

  /** As in the store. */
  let stored = NO_SOLVERS

  function list(solvers: readonly Solver[]): void {
    stored = solvers
    registered = keepEqual(registered, solvers.map(withoutHidden).map(withoutSkipped))
    active = keepEqual(active, registered.filter(isActive))
    reachable = keepEqual(reachable, active.filter(isReachable))
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

  return {
    registered: () => registered,
    active: () => active,
    reachable: () => reachable,
    reload,

    hideSession(sessionId) {
      hidden.add(sessionId)
      list(stored)
      return () => void hidden.delete(sessionId)
    },

    skipReplica(replicaId) {
      skipped.add(replicaId)
      list(stored)
      return () => {
        skipped.delete(replicaId)
        list(stored)
      }
    },
  }
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
