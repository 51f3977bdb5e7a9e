import { randomBytes } from 'node:crypto'
import { type Migration, type SqlBool, sql } from 'kysely'

/** The tables of the database. A column's unit is in its name. */
export interface Schema {
  solvers: SolverTable
  solver_timestamps: SolverTimestampTable
  blocked_solvers: BlockedSolverTable
  event_log: EventLogTable
  events: EventTable
  chain_positions: ChainPositionTable
  chain_headers: ChainHeaderTable
  solver_circuit_breakers: SolverCircuitBreakerTable
  chain_leaders: ChainLeaderTable
  solver_bonds: SolverBondTable
  record_keys: RecordKeyTable
}

interface SolverTable {
  chain_id: number
  /** Lower case. */
  address: string
  endpoint_url: string
  name: string
  registered_at_ms: number
  /** 1 when the bond sufficed at the last read, otherwise 0. */
  is_bonded: number
  /** Time of the first read of an insufficient bond; null while it suffices. */
  unbonded_since_ms: number | null
}

/** The last accepted timestamp of each solver. It outlives the registration (docs/decisions.md, D5). */
interface SolverTimestampTable {
  chain_id: number
  address: string
  last_timestamp_ms: number
}

/** The addresses that the operator has blocked. */
interface BlockedSolverTable {
  /** 0 for every chain. */
  chain_id: number
  /** Lower case. */
  address: string
  blocked_at_ms: number
}

/** One row with the id of the log and its ends. */
interface EventLogTable {
  log_id: string
  /** Sequence of the last entry. Writers update it before they add entries, and so wait for each other. */
  last_sequence: number
  /** Sequence of the last entry that retention has passed; 0 when none. */
  pruned_sequence: number
}

/** The published events and their reversions, in order. */
interface EventTable {
  sequence: number
  chain_id: number
  block_number: number
  block_hash: string
  log_index: number
  type: string
  /** JSON of the fields that only this type has; amounts are decimal strings. */
  details: string
  order_id: string
  user: string
  solver: string | null
  /** 1 for an event on the chain, as far as is known; 0 for a removed event and for reversions. */
  is_canonical: number
  published_at_ms: number
}

/** The first block of a chain that was read, and the contract that was read. */
interface ChainPositionTable {
  chain_id: number
  /** Lower case. */
  settlement: string
  first_block: number
}

/** The last blocks of a chain whose events are in the log. The highest is the chain's position. */
interface ChainHeaderTable {
  chain_id: number
  number: number
  hash: string
  parent_hash: string
}

/** The current epoch of each chain. Only the leader that began it may write the chain's events. */
interface ChainLeaderTable {
  chain_id: number
  /** Counts up by one each time that a leader begins. */
  epoch: number
}

/** The open circuit breakers, kept for restarts. */
interface SolverCircuitBreakerTable {
  chain_id: number
  address: string
  endpoint_url: string
  level: number
  until_ms: number
}

/** The free bonds of solvers at the last read, kept for restarts and for the other replicas. */
interface SolverBondTable {
  chain_id: number
  address: string
  /** Decimal, in the bond token's smallest unit. */
  free_bond: string
}

/** One row with the key that encrypts quote ids for solvers. */
interface RecordKeyTable {
  /** 16 bytes in hex. */
  record_key: string
}

/** The migrations by name, applied in the order of the names. A released migration is never changed. */
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
  '002-events': {
    async up(db) {
      await db.schema
        .createTable('event_log')
        .addColumn('log_id', 'text', (column) => column.notNull())
        .addColumn('pruned_sequence', 'bigint', (column) => column.notNull())
        .execute()
      await db
        .insertInto('event_log')
        .values({ log_id: randomBytes(6).toString('base64url'), pruned_sequence: 0 })
        .execute()
      await db.schema
        .createTable('events')
        .addColumn('sequence', 'bigint', (column) => column.primaryKey())
        .addColumn('chain_id', 'bigint', (column) => column.notNull())
        .addColumn('block_number', 'bigint', (column) => column.notNull())
        .addColumn('block_hash', 'text', (column) => column.notNull())
        .addColumn('log_index', 'bigint', (column) => column.notNull())
        .addColumn('type', 'text', (column) => column.notNull())
        .addColumn('details', 'text', (column) => column.notNull())
        .addColumn('order_id', 'text', (column) => column.notNull())
        .addColumn('user', 'text', (column) => column.notNull())
        .addColumn('solver', 'text')
        .addColumn('is_standing', 'integer', (column) => column.notNull())
        .addColumn('announced_at_ms', 'bigint', (column) => column.notNull())
        .execute()
      await db.schema
        .createIndex('events_standing')
        .on('events')
        .columns(['chain_id', 'block_number', 'log_index'])
        .unique()
        .where(sql<SqlBool>`is_standing = 1`)
        .execute()
      await db.schema
        .createTable('chain_positions')
        .addColumn('chain_id', 'bigint', (column) => column.primaryKey())
        .addColumn('settlement', 'text', (column) => column.notNull())
        .addColumn('first_block', 'bigint', (column) => column.notNull())
        .execute()
      await db.schema
        .createTable('chain_headers')
        .addColumn('chain_id', 'bigint', (column) => column.notNull())
        .addColumn('number', 'bigint', (column) => column.notNull())
        .addColumn('hash', 'text', (column) => column.notNull())
        .addColumn('parent_hash', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('chain_headers_pk', ['chain_id', 'number'])
        .execute()
    },
  },
  '003-solver-benches': {
    async up(db) {
      await db.schema
        .createTable('solver_benches')
        .addColumn('chain_id', 'bigint', (column) => column.notNull())
        .addColumn('address', 'text', (column) => column.notNull())
        .addColumn('endpoint_url', 'text', (column) => column.notNull())
        .addColumn('level', 'integer', (column) => column.notNull())
        .addColumn('until_ms', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('solver_benches_pk', ['chain_id', 'address'])
        .execute()
    },
  },
  '004-replicas': {
    async up(db) {
      await db.schema
        .alterTable('event_log')
        .addColumn('last_sequence', 'bigint', (column) => column.notNull().defaultTo(0))
        .execute()
      await sql`update event_log
        set last_sequence = coalesce((select max(sequence) from events), pruned_sequence)`.execute(db)
      await db.schema
        .createTable('chain_readers')
        .addColumn('chain_id', 'bigint', (column) => column.primaryKey())
        .addColumn('term', 'bigint', (column) => column.notNull())
        .execute()
    },
  },
  '005-solver-bonds': {
    async up(db) {
      await db.schema
        .createTable('solver_bonds')
        .addColumn('chain_id', 'bigint', (column) => column.notNull())
        .addColumn('address', 'text', (column) => column.notNull())
        .addColumn('free_bond', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('solver_bonds_pk', ['chain_id', 'address'])
        .execute()
    },
  },
  '006-event-filters': {
    // Filters by an order or a party use an index. Chains and types are few, so a read scans a bounded range for them.
    async up(db) {
      for (const column of ['order_id', 'user', 'solver']) {
        await db.schema
          .createIndex(`events_of_${column}`)
          .on('events')
          .columns([column, 'sequence'])
          .execute()
      }
    },
  },
  '007-solver-places': {
    async up(db) {
      await db.schema.alterTable('solvers').addColumn('unbonded_since_ms', 'bigint').execute()
      await db
        .updateTable('solvers')
        .set({ unbonded_since_ms: Date.now() })
        .where('is_bonded', '=', 0)
        .execute()
      await db.schema
        .createTable('solver_bars')
        .addColumn('chain_id', 'bigint', (column) => column.notNull())
        .addColumn('address', 'text', (column) => column.notNull())
        .addColumn('barred_at_ms', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('solver_bars_pk', ['chain_id', 'address'])
        .execute()
    },
  },
  // The key is created with its table: the migrator lets one replica do so, in one transaction.
  '008-record-key': {
    async up(db) {
      await db.schema
        .createTable('record_keys')
        .addColumn('record_key', 'text', (column) => column.notNull())
        .execute()
      await db
        .insertInto('record_keys')
        .values({ record_key: randomBytes(16).toString('hex') })
        .execute()
    },
  },
  '009-field-terms': {
    async up(db) {
      await db.schema.alterTable('solver_benches').renameTo('solver_circuit_breakers').execute()
      await db.schema.alterTable('chain_readers').renameTo('chain_leaders').execute()
      await db.schema.alterTable('chain_leaders').renameColumn('term', 'epoch').execute()
      await db.schema.alterTable('solver_bars').renameTo('blocked_solvers').execute()
      await db.schema.alterTable('blocked_solvers').renameColumn('barred_at_ms', 'blocked_at_ms').execute()
      await db.schema.alterTable('events').renameColumn('is_standing', 'is_canonical').execute()
      await db.schema.alterTable('events').renameColumn('announced_at_ms', 'published_at_ms').execute()
      await db.schema.dropIndex('events_standing').execute()
      await db.schema
        .createIndex('events_canonical')
        .on('events')
        .columns(['chain_id', 'block_number', 'log_index'])
        .unique()
        .where(sql<SqlBool>`is_canonical = 1`)
        .execute()
    },
  },
}
