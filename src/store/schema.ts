import type { Migration } from 'kysely'

/** The database's tables; a column's unit is in its name. */
export interface Schema {
  solvers: SolverTable
  solver_timestamps: SolverTimestampTable
}

interface SolverTable {
  chain_id: number
  /** Lower case. */
  address: string
  endpoint_url: string
  name: string
  registered_at_ms: number
  /** 1 when the bond sufficed as it was last read, else 0. */
  is_bonded: number
}

/** The last accepted timestamp of each solver; it outlives the registration (decisions.md D5). */
interface SolverTimestampTable {
  chain_id: number
  address: string
  last_timestamp_ms: number
}

/** The migrations by name, run in the names' order; one that was released is never changed. */
export const migrations: Record<string, Migration> = {
  '001-solvers': {
    async up(db) {
      await db.schema
        .createTable('solvers')
        .addColumn('chain_id', 'bigint', (column) => column.notNull())
        .addColumn('address', 'text', (column) => column.notNull())
        .addColumn('endpoint_url', 'text', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('registered_at_ms', 'bigint', (column) => column.notNull())
        .addColumn('is_bonded', 'integer', (column) => column.notNull())
        .addPrimaryKeyConstraint('solvers_pk', ['chain_id', 'address'])
        .execute()
      await db.schema
        .createTable('solver_timestamps')
        .addColumn('chain_id', 'bigint', (column) => column.notNull())
        .addColumn('address', 'text', (column) => column.notNull())
        .addColumn('last_timestamp_ms', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('solver_timestamps_pk', ['chain_id', 'address'])
        .execute()
    },
  },
}
