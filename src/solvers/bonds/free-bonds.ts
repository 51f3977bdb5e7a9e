import { type Bond, freeBondOf, type SolverKey } from '../../../packages/protocol/src/solvers/solver.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import { createSerialQueue } from '../../concurrency/one-at-a-time.js'
import type { BondStore, StoredBond } from '../../store/solvers/bond-store.js'

/**
 * The bond of each registered solver, and its free part (docs/decisions.md, D13). Quotes use it from memory; restarts and other replicas
 * read it from the store. The leader of the chain writes it.
 */
export type FreeBonds = Awaited<ReturnType<typeof createFreeBonds>>

/** Builds the free bonds from the store. */
export async function createFreeBonds(store: BondStore, chainIds: readonly number[]) {
  const chains = new Map(chainIds.map((chainId) => [chainId, createChainBonds(chainId, store)]))
  await Promise.all([...chains.values()].map((bonds) => bonds.load()))

  return {
    /** The free bond, in the bond token's smallest unit; undefined until it has been read once. */
    of: ({ chainId, address }: SolverKey): bigint | undefined => chains.get(chainId)?.of(address)?.free,
    /** The whole bond, in the bond token's smallest unit; undefined until it has been read once. */
    totalOf: ({ chainId, address }: SolverKey): bigint | undefined => chains.get(chainId)?.of(address)?.total,
    /** Sets bonds that were just read in memory at once, then stores those that have changed. */
    async update(chainId: number, bonds: ReadonlyMap<Address, Bond>): Promise<void> {
      await chains.get(chainId)?.update(bonds)
    },
    /** Sets the bond that a registration has read. It may be older than an event. */
    async updateRegistered({ chainId, address }: SolverKey, bond: Bond): Promise<void> {
      await chains.get(chainId)?.updateRegistered(address, bond)
    },
    /** Reads a chain's free bonds from the store. @returns whether any was different */
    load: async (chainId: number): Promise<boolean> => (await chains.get(chainId)?.load()) ?? false,
  }
}

/**
 * Builds the free bonds of one chain. Memory changes first. Writes and loads then run one after the other, so that no load
 * reads a state from before a write.
 */
function createChainBonds(chainId: number, store: BondStore) {
  const known = new Map<Address, StoredBond>()
  /** Solvers whose bond has changed in memory, and for which no write has begun. A load leaves them unchanged. */
  const unstored = new Set<Address>()
  const queue = createSerialQueue()

  function setUnstored(address: Address, bond: StoredBond): void {
    known.set(address, bond)
    unstored.add(address)
  }

  async function storeChanges(): Promise<void> {
    const changes = new Map([...known].filter(([address]) => unstored.has(address)))
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
      ([address, bond]) => !unstored.has(address) && !isEqual(known.get(address), bond),
    )
    for (const [address, bond] of changed) known.set(address, bond)
    for (const address of known.keys())
      if (!stored.has(address) && !unstored.has(address)) known.delete(address)
    return changed.length > 0
  }

  return {
    of: (address: Address) => known.get(address),

    async update(bonds: ReadonlyMap<Address, Bond>): Promise<void> {
      for (const [address, bond] of bonds)
        if (!isEqual(known.get(address), toStored(bond))) setUnstored(address, toStored(bond))
      await queue.run(storeChanges)
    },

    /** Stores an equal value too: another replica may have removed the row while the solver was not registered. */
    async updateRegistered(address: Address, bond: Bond): Promise<void> {
      setUnstored(address, toStored(bond))
      await queue.run(storeChanges)
    },

    load: () => queue.run(loadStored),
  }
}

function toStored(bond: Bond): StoredBond {
  return { free: freeBondOf(bond), total: bond.total }
}

function isEqual(one: StoredBond | undefined, other: StoredBond): boolean {
  return one?.free === other.free && one.total === other.total
}
