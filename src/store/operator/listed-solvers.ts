import type { Address } from '../../../packages/protocol/src/values/hex.js'
import { type Coordination, type Database, type DatabaseTransaction, NO_COORDINATION } from '../database.js'

/** The lists of solvers of the operator. */
export type SolverLists = Readonly<Record<SolverListName, SolverList>>

/** A list of the operator (docs/decisions.md, D14; docs/decisions.md, D26). */
export type SolverListName = 'blocked' | 'allowed'

/** An address on a list. */
export interface ListedSolver {
  readonly address: Address
  /** Undefined for every chain. */
  readonly chainId: number | undefined
  /** Unix time in milliseconds. */
  readonly listedAt: number
}

/** A list of addresses. Blocked ones may not register; where only allowed ones may, others count as blocked. */
type SolverList = ReturnType<typeof createList>

/** In the column of the chain: the entry holds for every chain. */
export const EVERY_CHAIN = 0

/** Builds both lists over an open database. They notify replicas of each chain that loses a solver, by the chain's id. */
export function createSolverLists(database: Database, coordination: Coordination = NO_COORDINATION) {
  return {
    blocked: createList('blocked', database, coordination),
    allowed: createList('allowed', database, coordination),
  }
}

function createList(list: SolverListName, database: Database, { serialize, notify }: Coordination) {
  async function unregister(transaction: DatabaseTransaction, { address, chainId }: ListedSolver) {
    const removed = await transaction
      .deleteFrom('solvers')
      .where('address', '=', address)
      .$if(chainId !== undefined, (query) => query.where('chain_id', '=', Number(chainId)))
      .returning('chain_id')
      .execute()
    const chainIds = removed.map((row) => row.chain_id).sort((one, other) => one - other)
    for (const each of chainIds) await notify(transaction, 'solvers', String(each))
    return chainIds
  }

  return {
    /** All entries, the oldest first. */
    async readAll(): Promise<ListedSolver[]> {
      const rows = await database
        .selectFrom('listed_solvers')
        .selectAll()
        .where('list', '=', list)
        .orderBy('listed_at_ms')
        .orderBy('address')
        .orderBy('chain_id')
        .execute()
      return rows.map((row) => ({
        address: row.address as Address,
        chainId: row.chain_id === EVERY_CHAIN ? undefined : row.chain_id,
        listedAt: row.listed_at_ms,
      }))
    },

    /**
     * Adds an address. One that is blocked loses its registrations, in the same transaction. Their last accepted timestamps
     * stay.
     * @returns the chains on which it was registered and is not any more, ascending
     */
    add: (listed: ListedSolver): Promise<number[]> =>
      database.transaction().execute(async (transaction) => {
        const { address, chainId, listedAt } = listed
        await serialize(transaction, lockNameOf(address))
        await transaction
          .insertInto('listed_solvers')
          .values({ list, chain_id: chainId ?? EVERY_CHAIN, address, listed_at_ms: listedAt })
          .onConflict((conflict) => conflict.columns(['list', 'chain_id', 'address']).doNothing())
          .execute()
        return list === 'blocked' ? unregister(transaction, listed) : []
      }),

    /**
     * Removes an address on one chain, or on every chain when `chainId` is undefined.
     * @returns the number of entries removed; an entry for every chain does not count for a single chain
     */
    async remove(address: Address, chainId: number | undefined): Promise<number> {
      const { numDeletedRows } = await database
        .deleteFrom('listed_solvers')
        .where('list', '=', list)
        .where('address', '=', address)
        .$if(chainId !== undefined, (query) => query.where('chain_id', '=', Number(chainId)))
        .executeTakeFirstOrThrow()
      return Number(numDeletedRows)
    },
  }
}

/** The lock under which an address registers and is listed. */
export function lockNameOf(address: Address): string {
  return `solver ${address}`
}
