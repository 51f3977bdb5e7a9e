import type { Address } from '../domain/hex.js'
import type { SolverKey } from '../domain/solver.js'
import type { Database } from './database.js'

/** A solver's term on the bench. */
export interface StoredTerm extends SolverKey {
  /** Where it was asked in vain; at another place it begins anew. */
  readonly endpointUrl: string
  readonly level: number
  /** Unix time in milliseconds. */
  readonly until: number
}

/** Keeps who is on the bench, so that nobody waits for them again after a restart. */
export interface BenchStore {
  readAll(): Promise<StoredTerm[]>
  /** Keeps a term in place of the solver's last one. */
  save(term: StoredTerm): Promise<void>
  remove(key: SolverKey): Promise<void>
}

/** Builds the store of terms over an open database. */
export function createBenchStore(database: Database): BenchStore {
  return {
    async readAll() {
      const rows = await database.selectFrom('solver_benches').selectAll().execute()
      return rows.map((row) => ({
        chainId: row.chain_id,
        address: row.address as Address,
        endpointUrl: row.endpoint_url,
        level: row.level,
        until: row.until_ms,
      }))
    },

    async save({ chainId, address, endpointUrl, level, until }) {
      const term = { endpoint_url: endpointUrl, level, until_ms: until }
      await database
        .insertInto('solver_benches')
        .values({ chain_id: chainId, address, ...term })
        .onConflict((conflict) => conflict.columns(['chain_id', 'address']).doUpdateSet(term))
        .execute()
    },

    async remove({ chainId, address }) {
      await database
        .deleteFrom('solver_benches')
        .where('chain_id', '=', chainId)
        .where('address', '=', address)
        .execute()
    },
  }
}
