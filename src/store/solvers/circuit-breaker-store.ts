import type { SolverKey } from '../../../packages/protocol/src/solvers/solver.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import { createSerialQueue } from '../../concurrency/one-at-a-time.js'
import type { Database } from '../database.js'

/** The stored period during which a solver's circuit breaker is open. */
export interface StoredOpenPeriod extends SolverKey {
  /** The endpoint that failed. At another endpoint, the breaker begins half-open. */
  readonly endpointUrl: string
  readonly level: number
  /** Unix time in milliseconds. */
  readonly until: number
}

/** Stores open circuit breakers, so that they stay open after a restart. Writes keep the order of the calls. */
export interface CircuitBreakerStore {
  readAll(): Promise<StoredOpenPeriod[]>
  /** Stores an open period in place of the solver's last one. */
  save(openPeriod: StoredOpenPeriod): Promise<void>
  remove(key: SolverKey): Promise<void>
}

/** Builds the store of open periods over an open database. */
export function createCircuitBreakerStore(database: Database): CircuitBreakerStore {
  /** Writes run one after the other, also when the database runs statements in parallel. */
  const writes = createSerialQueue()

  return {
    async readAll() {
      const rows = await database.selectFrom('solver_circuit_breakers').selectAll().execute()
      return rows.map((row) => ({
        chainId: row.chain_id,
        address: row.address as Address,
        endpointUrl: row.endpoint_url,
        level: row.level,
        until: row.until_ms,
      }))
    },

    save({ chainId, address, endpointUrl, level, until }) {
      const openPeriod = { endpoint_url: endpointUrl, level, until_ms: until }
      const statement = database
        .insertInto('solver_circuit_breakers')
        .values({ chain_id: chainId, address, ...openPeriod })
        .onConflict((conflict) => conflict.columns(['chain_id', 'address']).doUpdateSet(openPeriod))
      return writes.run(async () => void (await statement.execute()))
    },

    remove({ chainId, address }) {
      const statement = database
        .deleteFrom('solver_circuit_breakers')
        .where('chain_id', '=', chainId)
        .where('address', '=', address)
      return writes.run(async () => void (await statement.execute()))
    },
  }
}
