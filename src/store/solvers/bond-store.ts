import type { Address } from '../../../packages/protocol/src/values/hex.js'
import { type Coordination, type Database, type DatabaseTransaction, NO_COORDINATION } from '../database.js'

/** A solver's bond, in the bond token's smallest unit. */
export interface StoredBond {
  /** The part for new orders. */
  readonly free: bigint
  readonly total: bigint
}

/** Stores the bonds of registered solvers. */
export type BondStore = ReturnType<typeof createBondStore>

/** Builds the store of bonds over an open database. It notifies replicas of each change, by the chain's id. */
export function createBondStore(database: Database, { serialize, notify }: Coordination = NO_COORDINATION) {
  return {
    /** The bonds of one chain's registered solvers. */
    async readAll(chainId: number): Promise<Map<Address, StoredBond>> {
      const rows = await database
        .selectFrom('solver_bonds')
        .innerJoin('solvers', (join) =>
          join
            .onRef('solvers.chain_id', '=', 'solver_bonds.chain_id')
            .onRef('solvers.address', '=', 'solver_bonds.address'),
        )
        .select(['solver_bonds.address', 'solver_bonds.free_bond', 'solver_bonds.total_bond'])
        .where('solver_bonds.chain_id', '=', chainId)
        .execute()
      return new Map(rows.map((row) => [row.address as Address, toBond(row)]))
    },

    /** Stores the solvers' bonds, and removes those of solvers that are no longer registered. */
    save: (chainId: number, bonds: ReadonlyMap<Address, StoredBond>): Promise<void> =>
      database.transaction().execute(async (transaction) => {
        await serialize(transaction, `bonds ${chainId}`)
        await removeUnregistered(transaction, chainId)
        for (const [address, { free, total }] of bonds) {
          const change = { free_bond: free.toString(), total_bond: total.toString() }
          await transaction
            .insertInto('solver_bonds')
            .values({ chain_id: chainId, address, ...change })
            .onConflict((conflict) => conflict.columns(['chain_id', 'address']).doUpdateSet(change))
            .execute()
        }
        await notify(transaction, 'bonds', String(chainId))
      }),
  }
}

async function removeUnregistered(transaction: DatabaseTransaction, chainId: number): Promise<void> {
  await transaction
    .deleteFrom('solver_bonds')
    .where('chain_id', '=', chainId)
    .where('address', 'not in', (query) =>
      query.selectFrom('solvers').select('solvers.address').where('solvers.chain_id', '=', chainId),
    )
    .execute()
}

function toBond(row: { readonly free_bond: string; readonly total_bond: string }): StoredBond {
  const { free_bond, total_bond } = row
  return { free: BigInt(free_bond), total: BigInt(total_bond) }
}
