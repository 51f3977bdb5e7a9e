import { createSerialQueue } from '../concurrency/serial-queue.js'
import type { Address } from '../domain/hex.js'
import { type Bond, freeBondOf, type SolverKey } from '../domain/solver.js'
import type { BondStore } from '../store/bond-store.js'

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
  /** Sets the bond that a registration has read. It may be older than an event. */
  updateRegistered(key: SolverKey, bond: Bond): Promise<void>
  /** Reads a chain's free bonds from the store. @returns whether any was different */
  load(chainId: number): Promise<boolean>
}

interface FreeBondsOptions {
  readonly store: BondStore
  readonly chainIds: readonly number[]
}

/** Builds the free bonds from the store. */
export async function createFreeBonds({ store, chainIds }: FreeBondsOptions): Promise<FreeBonds> {
  const chains = new Map(chainIds.map((chainId) => [chainId, createChainBonds(chainId, store)]))
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
    },
    load: async (chainId) => (await chains.get(chainId)?.load()) ?? false,
  }
}

/**
 * Builds the free bonds of one chain. Memory changes first. Writes and loads then run one after the other, so that no load
 * reads a state from before a write.
 */
function createChainBonds(chainId: number, store: BondStore) {
  const known = new Map<Address, bigint>()
  /** The bonds that this replica has read for itself. They count only for solvers without another value. */
  let own: ReadonlyMap<Address, bigint> = new Map()
  /** Solvers whose free bond has changed in memory, and for which no write has begun. A load leaves them unchanged. */
  const unstored = new Set<Address>()
  const queue = createSerialQueue()

  function setUnstored(address: Address, freeBond: bigint): void {
    known.set(address, freeBond)
    unstored.add(address)
  }

  async function storeChanges(): Promise<void> {
    const changes = new Map([...unstored].map((address) => [address, known.get(address) ?? 0n]))
    if (changes.size === 0) return
    unstored.clear()
    try {
      await store.save(chainId, changes)
    } catch (error) {
      for (const address of changes.keys()) unstored.add(address)
      throw error
    }
  }

  async function loadStored(): Promise<boolean> {
    const stored = await store.readAll(chainId)
    const changed = [...stored].filter(
      ([address, freeBond]) => !unstored.has(address) && known.get(address) !== freeBond,
    )
    for (const [address, freeBond] of changed) known.set(address, freeBond)
    for (const address of known.keys())
      if (!stored.has(address) && !unstored.has(address)) known.delete(address)
    return changed.length > 0
  }

  return {
    of: (address: Address) => known.get(address) ?? own.get(address),
    isStored: (address: Address) => known.has(address),

    async update(bonds: ReadonlyMap<Address, Bond>): Promise<void> {
      for (const [address, bond] of bonds)
        if (known.get(address) !== freeBondOf(bond)) setUnstored(address, freeBondOf(bond))
      await queue.run(storeChanges)
    },

    /** Stores an equal value too: another replica may have removed the row while the solver was not registered. */
    async updateRegistered(address: Address, bond: Bond): Promise<void> {
      setUnstored(address, freeBondOf(bond))
      await queue.run(storeChanges)
    },

    updateUnstored(bonds: ReadonlyMap<Address, Bond>): void {
      own = new Map([...bonds].map(([address, bond]) => [address, freeBondOf(bond)]))
    },

    load: () => queue.run(loadStored),
  }
}
