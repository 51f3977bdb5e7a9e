import { type Bond, freeBondOf, type SolverKey } from '../../../packages/protocol/src/solvers/solver.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import { createSerialQueue } from '../../concurrency/one-at-a-time.js'
import type { BondStore, StoredBond } from '../../store/solvers/bond-store.js'

/**
 * The bond of each registered solver, and its free part (docs/decisions.md, D13). Quotes use it from memory; restarts and other replicas
 * read it from the store. The leader of the chain writes it.
 */
export type FreeBonds = Awaited<ReturnType<typeof createFreeBonds>>

interface KnownBond extends StoredBond {
  /** Whether the store has it, or a write of it has begun. A load leaves others unchanged. */
  isStored: boolean
}

/**
 * Builds the free bonds from the store. Memory changes first. Writes and loads of a chain then run one after the other, so that no load
 * reads a state from before a write.
 */
export async function createFreeBonds(store: BondStore, chainIds: readonly number[]) {
  const chains = new Map<number, Map<Address, KnownBond>>()
  const queue = createSerialQueue()

  function knownOn(chainId: number): Map<Address, KnownBond> {
    const known = chains.get(chainId) ?? new Map<Address, KnownBond>()
    chains.set(chainId, known)
    return known
  }

  function find({ chainId, address }: SolverKey): StoredBond | undefined {
    return chains.get(chainId)?.get(address)
  }

  function set({ chainId, address }: SolverKey, bond: StoredBond): void {
    knownOn(chainId).set(address, { ...bond, isStored: false })
  }

  function storeChanges(chainId: number): Promise<void> {
    return queue.run(async () => {
      const changes = new Map([...knownOn(chainId)].filter(([, { isStored }]) => !isStored))
      if (changes.size === 0) return
      for (const bond of changes.values()) bond.isStored = true
      try {
        await store.save(chainId, changes)
      } catch (error) {
        for (const bond of changes.values()) bond.isStored = false
        throw error
      }
    }, String(chainId))
  }

  function load(chainId: number): Promise<boolean> {
    return queue.run(async () => {
      const known = knownOn(chainId)
      const stored = await store.readAll(chainId)
      let hasChanged = false
      for (const [address, bond] of stored) {
        const before = known.get(address)
        if (before?.isStored === false || isEqual(before, bond)) continue
        known.set(address, { ...bond, isStored: true })
        hasChanged = true
      }
      for (const [address, { isStored }] of known) if (isStored && !stored.has(address)) known.delete(address)
      return hasChanged
    }, String(chainId))
  }

  await Promise.all(chainIds.map(load))

  return {
    /** The free bond, in the bond token's smallest unit; undefined until it has been read once. */
    of: (solver: SolverKey): bigint | undefined => find(solver)?.free,
    /** The whole bond, in the bond token's smallest unit; undefined until it has been read once. */
    totalOf: (solver: SolverKey): bigint | undefined => find(solver)?.total,
    /** Sets bonds that were just read in memory at once, then stores those that have changed. */
    async update(chainId: number, bonds: ReadonlyMap<Address, Bond>): Promise<void> {
      for (const [address, bond] of bonds) {
        const solver = { chainId, address }
        if (!isEqual(find(solver), toStored(bond))) set(solver, toStored(bond))
      }
      await storeChanges(chainId)
    },
    /**
     * Sets the bond that a registration has read. It may be older than an event. An equal value is stored too: another replica may have
     * removed the row while the solver was not registered.
     */
    async updateRegistered(solver: SolverKey, bond: Bond): Promise<void> {
      set(solver, toStored(bond))
      await storeChanges(solver.chainId)
    },
    /** Reads a chain's free bonds from the store. @returns whether any was different */
    load,
  }
}

function toStored(bond: Bond): StoredBond {
  return { free: freeBondOf(bond), total: bond.total }
}

function isEqual(one: StoredBond | undefined, other: StoredBond): boolean {
  return one?.free === other.free && one.total === other.total
}
