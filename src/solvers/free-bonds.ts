import type { Address } from '../domain/hex.js'
import type { Replicas } from '../domain/replicas.js'
import { type Bond, freeBondOf, type Solver, type SolverKey } from '../domain/solver.js'
import type { BondStore } from '../store/bond-store.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import { createMirror } from './mirror.js'

/**
 * The free bond of each registered solver (decisions.md D13): in memory for quotes, and in the store for restarts and
 * for the other replicas. The replica that reads the chain writes it.
 */
export interface FreeBonds {
  /** In the bond token's smallest unit; undefined until it has been read once. */
  of(key: SolverKey): bigint | undefined
  /** Takes bonds as they have just been read, at once, then stores those that have changed. */
  note(chainId: number, bonds: ReadonlyMap<Address, Bond>): Promise<void>
  /** Takes the bond that a registration has read. It may be older than an event: the listener reads it again. */
  noteRegistered(key: SolverKey, bond: Bond): Promise<void>
  /** Calls `listener` when a bond of a chain has come from a registration or from another replica. */
  onForeignChange(listener: (chainId: number) => void): void
  /** Stops following what other replicas change. */
  close(): void
}

interface FreeBondsOptions {
  readonly store: BondStore
  readonly replicas: Pick<Replicas, 'listen'>
  readonly chainIds: readonly number[]
  readonly log: Logger
}

/** Builds the free bonds with what the store has kept. */
export async function createFreeBonds({
  store,
  replicas,
  chainIds,
  log,
}: FreeBondsOptions): Promise<FreeBonds> {
  const chains = new Map(chainIds.map((chainId) => [chainId, createChainBonds(chainId, store)]))
  const mirrors = new Map(
    [...chains].map(([chainId, bonds]) => [chainId, createMirror(() => refresh(chainId, bonds), log)]),
  )
  let listener = (_chainId: number) => {}

  /** This replica's own writes come back too, and change nothing. */
  async function refresh(chainId: number, bonds: ChainBonds): Promise<void> {
    if (await bonds.load()) listener(chainId)
  }

  replicas.listen('bonds', {
    onText: (chainId) => mirrors.get(Number(chainId))?.refresh(),
    onMissed() {
      for (const mirror of mirrors.values()) mirror.refresh()
    },
  })
  await Promise.all([...chains.values()].map((bonds) => bonds.load()))

  return {
    of: ({ chainId, address }) => chains.get(chainId)?.known.get(address),
    async note(chainId, bonds) {
      await chains.get(chainId)?.note(bonds)
    },
    async noteRegistered({ chainId, address }, bond) {
      await chains.get(chainId)?.note(new Map([[address, bond]]))
      listener(chainId)
      // Forgets those that are no longer registered: only registrations make memory grow.
      mirrors.get(chainId)?.refresh()
    },
    onForeignChange(next) {
      listener = next
    },
    close() {
      for (const mirror of mirrors.values()) mirror.close()
    },
  }
}

type ChainBonds = ReturnType<typeof createChainBonds>

/** The free bonds of one chain. Memory is first; one write after the other brings the store up to it. */
function createChainBonds(chainId: number, store: BondStore) {
  const known = new Map<Address, bigint>()
  /** Solvers whose free bond is not yet stored. */
  const unstored = new Set<Address>()
  /** Counts the changes of memory. */
  let version = 0
  let writing: Promise<unknown> = Promise.resolve()

  function set(address: Address, freeBond: bigint): void {
    if (known.get(address) === freeBond) return
    known.set(address, freeBond)
    unstored.add(address)
    version++
  }

  async function storeChanges(): Promise<void> {
    const changed = new Map([...unstored].map((address) => [address, known.get(address) ?? 0n]))
    if (changed.size === 0) return
    unstored.clear()
    try {
      await store.save(chainId, changed)
    } catch (error) {
      for (const address of changed.keys()) unstored.add(address)
      throw error
    }
  }

  return {
    known: known as ReadonlyMap<Address, bigint>,

    async note(bonds: ReadonlyMap<Address, Bond>): Promise<void> {
      for (const [address, bond] of bonds) set(address, freeBondOf(bond))
      const written = writing.then(storeChanges)
      writing = written.catch(() => {})
      await written
    },

    /** Takes what is stored, again when memory has changed meanwhile. @returns whether anything was different */
    async load(): Promise<boolean> {
      for (;;) {
        await writing
        const before = version
        const stored = await store.readAll(chainId)
        if (version !== before) continue
        const changed = [...stored].filter(
          ([address, freeBond]) => !unstored.has(address) && known.get(address) !== freeBond,
        )
        for (const [address, freeBond] of changed) known.set(address, freeBond)
        for (const address of known.keys())
          if (!stored.has(address) && !unstored.has(address)) known.delete(address)
        return changed.length > 0
      }
    },
  }
}

/**
 * Puts the free bonds into the metrics.
 * @param active the active solvers of each chain
 */
export function measureFreeBonds(
  active: ReadonlyMap<number, readonly Solver[]>,
  freeBonds: Pick<FreeBonds, 'of'>,
  metrics: Pick<Metrics, 'solverFreeBond'>,
): void {
  metrics.solverFreeBond.reset()
  for (const [chainId, solvers] of active) {
    for (const solver of solvers) {
      const freeBond = freeBonds.of(solver)
      const labels = { chain_id: chainId, solver: solver.address }
      if (freeBond !== undefined) metrics.solverFreeBond.set(labels, Number(freeBond))
    }
  }
}
