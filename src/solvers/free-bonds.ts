import type { ClusterBus } from '../domain/cluster.js'
import type { Address } from '../domain/hex.js'
import { type Bond, freeBondOf, type Solver, type SolverKey } from '../domain/solver.js'
import type { BondStore } from '../store/bond-store.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import { createRefresher } from './refresher.js'

/**
 * The free bond of each registered solver (docs/decisions.md, D13): in memory for quotes, and in the store for restarts and
 * for the other replicas. The replica that reads the chain writes it.
 */
export interface FreeBonds {
  /** In the bond token's smallest unit; undefined until it has been read once. */
  of(key: SolverKey): bigint | undefined
  /** Takes bonds as they have just been read, at once, then stores those that have changed. */
  note(chainId: number, bonds: ReadonlyMap<Address, Bond>): Promise<void>
  /** Whether a free bond is stored, or about to be. */
  isStored(key: SolverKey): boolean
  /**
   * Takes bonds that a replica has read for itself alone, in place of all that it took so before. They count for
   * solvers without a stored free bond, and are not stored: another replica writes what it reads.
   */
  noteUnstored(chainId: number, bonds: ReadonlyMap<Address, Bond>): void
  /** Takes the bond that a registration has read. It may be older than an event: the listener reads it again. */
  noteRegistered(key: SolverKey, bond: Bond): Promise<void>
  /** Calls `listener` when a bond of a chain has come from a registration or from another replica. */
  onForeignChange(listener: (chainId: number) => void): void
  /** Stops following what other replicas change. */
  close(): void
}

interface FreeBondsOptions {
  readonly store: BondStore
  readonly cluster: Pick<ClusterBus, 'listen'>
  readonly chainIds: readonly number[]
  readonly log: Logger
}

/** Builds the free bonds with what the store has kept. */
export async function createFreeBonds({
  store,
  cluster,
  chainIds,
  log,
}: FreeBondsOptions): Promise<FreeBonds> {
  const chains = new Map(chainIds.map((chainId) => [chainId, createChainBonds(chainId, store)]))
  const refreshers = new Map(
    [...chains].map(([chainId, bonds]) => [chainId, createRefresher(() => refresh(chainId, bonds), log)]),
  )
  let listener = (_chainId: number) => {}

  /** This replica's own writes come back too, and change nothing. */
  async function refresh(chainId: number, bonds: ChainBonds): Promise<void> {
    if (await bonds.load()) listener(chainId)
  }

  cluster.listen('bonds', {
    onMessage: (chainId) => refreshers.get(Number(chainId))?.refresh(),
    onMissed() {
      for (const refresher of refreshers.values()) refresher.refresh()
    },
  })
  await Promise.all([...chains.values()].map((bonds) => bonds.load()))

  return {
    of: ({ chainId, address }) => chains.get(chainId)?.of(address),
    isStored: ({ chainId, address }) => chains.get(chainId)?.isStored(address) ?? false,
    noteUnstored: (chainId, bonds) => chains.get(chainId)?.noteUnstored(bonds),
    async note(chainId, bonds) {
      await chains.get(chainId)?.note(bonds)
    },
    async noteRegistered({ chainId, address }, bond) {
      await chains.get(chainId)?.noteRegistered(address, bond)
      listener(chainId)
      // Forgets those that are no longer registered: only registrations make memory grow.
      refreshers.get(chainId)?.refresh()
    },
    onForeignChange(next) {
      listener = next
    },
    close() {
      for (const refresher of refreshers.values()) refresher.close()
    },
  }
}

type ChainBonds = ReturnType<typeof createChainBonds>

/** The free bonds of one chain. Memory is first; one write after the other brings the store up to it. */
function createChainBonds(chainId: number, store: BondStore) {
  const known = new Map<Address, bigint>()
  /** What this replica has read for itself alone. It counts only where nothing is known. */
  let own: ReadonlyMap<Address, bigint> = new Map()
  /** Solvers whose free bond is not yet stored, each with the version that it came with. */
  const unstored = new Map<Address, number>()
  /** Counts the changes of memory. */
  let version = 0
  let writing: Promise<unknown> = Promise.resolve()

  function set(address: Address, freeBond: bigint): void {
    if (known.get(address) === freeBond) return
    setUnstored(address, freeBond)
  }

  function setUnstored(address: Address, freeBond: bigint): void {
    known.set(address, freeBond)
    version++
    unstored.set(address, version)
  }

  async function storeChanges(): Promise<void> {
    const written = new Map(unstored)
    if (written.size === 0) return
    await store.save(
      chainId,
      new Map([...written.keys()].map((address) => [address, known.get(address) ?? 0n])),
    )
    for (const [address, itsVersion] of written)
      if (unstored.get(address) === itsVersion) unstored.delete(address)
    // What a load has read may be older than what is stored now.
    version++
  }

  async function write(): Promise<void> {
    const written = writing.then(storeChanges)
    writing = written.catch(() => {})
    await written
  }

  return {
    of: (address: Address) => known.get(address) ?? own.get(address),
    isStored: (address: Address) => known.has(address),

    async note(bonds: ReadonlyMap<Address, Bond>): Promise<void> {
      for (const [address, bond] of bonds) set(address, freeBondOf(bond))
      await write()
    },

    /** Stores an equal value too: another replica may have removed the row while the solver was not registered. */
    async noteRegistered(address: Address, bond: Bond): Promise<void> {
      setUnstored(address, freeBondOf(bond))
      await write()
    },

    noteUnstored(bonds: ReadonlyMap<Address, Bond>): void {
      own = new Map([...bonds].map(([address, bond]) => [address, freeBondOf(bond)]))
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
export function collectFreeBondMetrics(
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
