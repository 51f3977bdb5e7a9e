import type { ClusterBus } from '../domain/cluster.js'
import type { Address } from '../domain/hex.js'
import { type Bond, freeBondOf, type Solver, type SolverKey } from '../domain/solver.js'
import type { BondStore } from '../store/bond-store.js'
import type { Logger } from '../telemetry/log.js'
import type { Metrics } from '../telemetry/metrics.js'
import { createRefresher } from './refresher.js'

/**
 * The free bond of each registered solver (docs/decisions.md, D13). Quotes use it from memory; restarts and other replicas
 * read it from the store. The leader of the chain writes it.
 */
export interface FreeBonds {
  /** In the bond token's smallest unit; undefined until it has been read once. */
  of(key: SolverKey): bigint | undefined
  /** Sets bonds that were just read in memory at once, then stores those that have changed. */
  update(chainId: number, bonds: ReadonlyMap<Address, Bond>): Promise<void>
  /** Whether a free bond is stored, or about to be. */
  isStored(key: SolverKey): boolean
  /**
   * Replaces the bonds that a follower replica has read for itself. They count for solvers without a stored free bond, and
   * are not stored, because the leader stores what it reads.
   */
  updateUnstored(chainId: number, bonds: ReadonlyMap<Address, Bond>): void
  /** Sets the bond that a registration has read. It may be older than an event, so the listener reads it again. */
  updateRegistered(key: SolverKey, bond: Bond): Promise<void>
  /** Calls `listener` when a registration or another replica has set a bond of a chain. */
  onForeignChange(listener: (chainId: number) => void): void
  /** Stops following the changes of other replicas. */
  close(): void
}

interface FreeBondsOptions {
  readonly store: BondStore
  readonly cluster: Pick<ClusterBus, 'listen'>
  readonly chainIds: readonly number[]
  readonly log: Logger
}

/** Builds the free bonds from the store. */
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

  /** This replica also gets messages of its own writes, which change nothing. */
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
    updateUnstored: (chainId, bonds) => chains.get(chainId)?.updateUnstored(bonds),
    async update(chainId, bonds) {
      await chains.get(chainId)?.update(bonds)
    },
    async updateRegistered({ chainId, address }, bond) {
      await chains.get(chainId)?.updateRegistered(address, bond)
      listener(chainId)
      // Removes solvers that are no longer registered: only registrations make memory grow.
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

/** Builds the free bonds of one chain. Memory changes first; sequential writes then bring the store up to date. */
function createChainBonds(chainId: number, store: BondStore) {
  const known = new Map<Address, bigint>()
  /** The bonds that this replica has read for itself. They count only for solvers without another value. */
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
    // A load that is running may have read an older state of the store.
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

    async update(bonds: ReadonlyMap<Address, Bond>): Promise<void> {
      for (const [address, bond] of bonds) set(address, freeBondOf(bond))
      await write()
    },

    /** Stores an equal value too: another replica may have removed the row while the solver was not registered. */
    async updateRegistered(address: Address, bond: Bond): Promise<void> {
      setUnstored(address, freeBondOf(bond))
      await write()
    },

    updateUnstored(bonds: ReadonlyMap<Address, Bond>): void {
      own = new Map([...bonds].map(([address, bond]) => [address, freeBondOf(bond)]))
    },

    /** Reads the store, again if memory has changed during the read. @returns whether anything was different */
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
 * Adds the free bonds to the metrics.
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
