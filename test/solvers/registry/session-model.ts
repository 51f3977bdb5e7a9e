import { solver } from '../../store/solvers/solver-samples.js'
import { bondKey, PLACE_MS } from './session-harness.js'

interface Row {
  readonly hasEndpoint: boolean
  readonly session?: string
  readonly endedAt?: number
  readonly isBonded: boolean
}

/** A write of a session that fails. */
export interface Failure {
  /** 1 for the write of the first chain. */
  readonly at: number
  /** Whether only its answer is lost. */
  readonly isStored: boolean
}

/** What a service must list after connections, ends, registrations, bonds and restarts. Solvers are numbers. */
export function createSessionModel(maxSolvers: number) {
  const rows = new Map<string, Row>()
  const unbonded = new Set<string>()
  const keyOf = (chainId: number, number: number) => bondKey(chainId, solver(number).address)

  function hasRoom(chainId: number, number: number): boolean {
    const taken = [...rows.keys()].filter((key) => key.startsWith(`${chainId} `))
    return rows.has(keyOf(chainId, number)) || taken.length < maxSolvers
  }

  function end(key: string, session: string | undefined, endedAt: number): void {
    const row = rows.get(key)
    if (session !== undefined && row?.session === session) rows.set(key, { endedAt, ...row })
  }

  return {
    /** @returns the reason of its error */
    connect(number: number, chainIds: readonly number[], session: string, now: number, failure?: Failure) {
      const keys = chainIds.toSorted().map((chainId) => keyOf(chainId, number))
      if (!chainIds.every((chainId) => hasRoom(chainId, number))) return 'SOLVER_LIMIT_REACHED'
      if (keys.some((key) => unbonded.has(key))) return 'BOND_INSUFFICIENT'
      const known = new Set(keys.filter((key) => rows.has(key)))
      const fails = failure !== undefined && failure.at <= keys.length
      const stored = fails ? keys.slice(0, failure.isStored ? failure.at : failure.at - 1) : keys
      for (const key of stored)
        rows.set(key, { hasEndpoint: rows.get(key)?.hasEndpoint ?? false, session, isBonded: true })
      if (!fails) return undefined
      for (const key of stored) end(key, session, known.has(key) ? now : 0)
      return 'DATABASE_UNAVAILABLE'
    },
    disconnect(number: number, chainIds: readonly number[], session: string, now: number): void {
      for (const chainId of chainIds) end(keyOf(chainId, number), session, now)
    },
    /** @returns whether it is accepted */
    register(number: number, chainId: number): boolean {
      const key = keyOf(chainId, number)
      if (!hasRoom(chainId, number) || unbonded.has(key)) return false
      rows.set(key, { ...rows.get(key), hasEndpoint: true, isBonded: true })
      return true
    },
    setBonded(number: number, chainId: number, isBonded: boolean): void {
      const key = keyOf(chainId, number)
      const row = rows.get(key)
      if (row !== undefined) rows.set(key, { ...row, isBonded })
      if (isBonded) unbonded.delete(key)
      else unbonded.add(key)
    },
    /** Removes those without an endpoint whose session has ended too long ago. */
    purge(now: number): void {
      for (const [key, { hasEndpoint, endedAt }] of rows)
        if (!hasEndpoint && endedAt !== undefined && endedAt < now - PLACE_MS) rows.delete(key)
    },
    restart(now: number): void {
      for (const [key, { session }] of rows) end(key, session, now)
    },
    registered: () => [...rows.keys()].sort(),
    /** Key, whether it has an endpoint, and the session of each active solver. */
    active() {
      const views = [...rows].map(([key, { hasEndpoint, session, endedAt, isBonded }]) => {
        const current = endedAt === undefined ? session : undefined
        return isBonded && (hasEndpoint || current !== undefined) ? [`${key} ${hasEndpoint} ${current}`] : []
      })
      return views.flat().sort()
    },
  }
}
