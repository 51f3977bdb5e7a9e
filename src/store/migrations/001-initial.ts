import { randomBytes } from 'node:crypto'
import { type Kysely, type Migration, type SqlBool, sql } from 'kysely'

type TableCreator = Kysely<unknown>

/** Creates all tables of the first release, with the log's id and the keys: the migrator lets one replica do so, in one transaction. */
export const initial: Migration = {
  async up(db) {
    await createSolvers(db)
    await createSolverState(db)
    await createEventLog(db)
    await createOrders(db)
    await createSolverHours(db)
    await createOfferNonces(db)
    await createChainTables(db)
    await createReplicas(db)
    await db
      .insertInto('event_log')
      .values({ log_id: randomBytes(6).toString('base64url'), pruned_sequence: 0 })
      .execute()
    await db
      .insertInto('record_keys')
      .values({ record_key: randomBytes(16).toString('hex') })
      .execute()
    await db
      .insertInto('replica_keys')
      .values({ replica_key: randomBytes(32).toString('hex') })
      .execute()
  },
}

async function createSolvers(db: TableCreator): Promise<void> {
  await db.schema
    .createTable('solvers')
    .addColumn('chain_id', 'bigint', (column) => column.notNull())
    .addColumn('address', 'text', (column) => column.notNull())
    .addColumn('endpoint_url', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('registered_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('is_bonded', 'integer', (column) => column.notNull())
    .addColumn('unbonded_since_ms', 'bigint')
    .addColumn('session_id', 'text')
    .addColumn('session_replica', 'text')
    .addColumn('session_ended_at_ms', 'bigint')
    .addPrimaryKeyConstraint('solvers_pk', ['chain_id', 'address'])
    .execute()
  await db.schema
    .createTable('solver_timestamps')
    .addColumn('chain_id', 'bigint', (column) => column.notNull())
    .addColumn('address', 'text', (column) => column.notNull())
    .addColumn('last_timestamp_ms', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('solver_timestamps_pk', ['chain_id', 'address'])
    .execute()
  await db.schema
    .createTable('listed_solvers')
    .addColumn('list', 'text', (column) => column.notNull())
    .addColumn('chain_id', 'bigint', (column) => column.notNull())
    .addColumn('address', 'text', (column) => column.notNull())
    .addColumn('listed_at_ms', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('listed_solvers_pk', ['list', 'chain_id', 'address'])
    .execute()
}

/** The circuit breakers, the bonds, and the key of quote ids for solvers. */
async function createSolverState(db: TableCreator): Promise<void> {
  await db.schema
    .createTable('solver_circuit_breakers')
    .addColumn('chain_id', 'bigint', (column) => column.notNull())
    .addColumn('address', 'text', (column) => column.notNull())
    .addColumn('endpoint_url', 'text', (column) => column.notNull())
    .addColumn('level', 'integer', (column) => column.notNull())
    .addColumn('until_ms', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('solver_circuit_breakers_pk', ['chain_id', 'address'])
    .execute()
  await db.schema
    .createTable('solver_bonds')
    .addColumn('chain_id', 'bigint', (column) => column.notNull())
    .addColumn('address', 'text', (column) => column.notNull())
    .addColumn('free_bond', 'text', (column) => column.notNull())
    .addColumn('total_bond', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('solver_bonds_pk', ['chain_id', 'address'])
    .execute()
  await db.schema
    .createTable('record_keys')
    .addColumn('record_key', 'text', (column) => column.notNull())
    .execute()
}

async function createEventLog(db: TableCreator): Promise<void> {
  await db.schema
    .createTable('event_log')
    .addColumn('log_id', 'text', (column) => column.notNull())
    .addColumn('pruned_sequence', 'bigint', (column) => column.notNull())
    .addColumn('last_sequence', 'bigint', (column) => column.notNull().defaultTo(0))
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
    .addColumn('is_canonical', 'integer', (column) => column.notNull())
    .addColumn('published_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('transaction_hash', 'text', (column) => column.notNull())
    .addColumn('block_time', 'bigint', (column) => column.notNull())
    .execute()
  // With type and order: two events of a block can have the same log index, because nodes count a block's logs differently.
  await db.schema
    .createIndex('events_canonical')
    .on('events')
    .columns(['chain_id', 'block_number', 'log_index', 'type', 'order_id'])
    .unique()
    .where(sql<SqlBool>`is_canonical = 1`)
    .execute()
  await db.schema
    .createIndex('events_set_aside')
    .on('events')
    .columns(['chain_id', 'order_id'])
    .where(sql<SqlBool>`is_canonical = 2`)
    .execute()
  // Chains and types are few, so a read scans a bounded range for them.
  for (const column of ['order_id', 'user', 'solver'])
    await db.schema.createIndex(`events_of_${column}`).on('events').columns([column, 'sequence']).execute()
}

async function createOrders(db: TableCreator): Promise<void> {
  await db.schema
    .createTable('orders')
    .addColumn('chain_id', 'bigint', (column) => column.notNull())
    .addColumn('order_id', 'text', (column) => column.notNull())
    .addColumn('block_number', 'bigint', (column) => column.notNull())
    .addColumn('log_index', 'bigint', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('user', 'text', (column) => column.notNull())
    .addColumn('solver', 'text')
    .addColumn('terms', 'text')
    .addColumn('steps', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('orders_pk', ['chain_id', 'order_id'])
    .execute()
  const position = ['block_number', 'log_index']
  const filters = {
    orders_by_state: [],
    orders_by_user: ['user'],
    orders_by_solver: ['solver'],
    orders_by_parties: ['user', 'solver'],
  }
  for (const [name, columns] of Object.entries(filters))
    await db.schema
      .createIndex(name)
      .on('orders')
      .columns(['chain_id', ...columns, 'state', ...position])
      .execute()
  await db.schema
    .createIndex('orders_without_terms')
    .on('orders')
    .columns(['chain_id', ...position])
    .where(sql<SqlBool>`terms is null`)
    .execute()
}

async function createSolverHours(db: TableCreator): Promise<void> {
  await db.schema
    .createTable('solver_order_hours')
    .addColumn('chain_id', 'bigint', (column) => column.notNull())
    .addColumn('solver', 'text', (column) => column.notNull())
    .addColumn('hour', 'bigint', (column) => column.notNull())
    .addColumn('orders', 'bigint', (column) => column.notNull())
    .addColumn('deposited', 'bigint', (column) => column.notNull())
    .addColumn('settled', 'bigint', (column) => column.notNull())
    .addColumn('refunded', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('solver_order_hours_pk', ['chain_id', 'solver', 'hour'])
    .execute()
  await db.schema
    .createIndex('solver_order_hours_by_hour')
    .on('solver_order_hours')
    .columns(['chain_id', 'hour'])
    .execute()
  await db.schema
    .createTable('solver_hours')
    .addColumn('chain_id', 'bigint', (column) => column.notNull())
    .addColumn('hour', 'bigint', (column) => column.notNull())
    .addColumn('solver', 'text', (column) => column.notNull())
    .addColumn('writer', 'text', (column) => column.notNull())
    .addColumn('response_times', 'text', (column) => column.notNull())
    .addColumn('quoted', 'bigint', (column) => column.notNull())
    .addColumn('declined', 'bigint', (column) => column.notNull())
    .addColumn('invalid', 'bigint', (column) => column.notNull())
    .addColumn('failed', 'bigint', (column) => column.notNull())
    .addColumn('late', 'bigint', (column) => column.notNull())
    .addColumn('soft_deadline', 'bigint', (column) => column.notNull())
    .addColumn('won', 'bigint', (column) => column.notNull())
    .addColumn('won_alone', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('solver_hours_pk', ['chain_id', 'hour', 'solver', 'writer'])
    .execute()
  await db.schema.createIndex('solver_hours_by_hour').on('solver_hours').column('hour').execute()
  await db.schema
    .createIndex('solver_hours_by_solver')
    .on('solver_hours')
    .columns(['chain_id', 'solver', 'hour'])
    .execute()
}

/** The nonces of offers. There are many, of which few are used. */
async function createOfferNonces(db: TableCreator): Promise<void> {
  await db.schema
    .createTable('offer_nonces')
    .addColumn('chain_id', 'bigint', (column) => column.notNull())
    .addColumn('order_id', 'text', (column) => column.notNull())
    .addColumn('solver', 'text', (column) => column.notNull())
    .addColumn('nonce', 'text', (column) => column.notNull())
    .addColumn('until', 'bigint', (column) => column.notNull())
    .addColumn('used', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('offer_nonces_pk', ['chain_id', 'order_id', 'solver', 'nonce'])
    .execute()
  await db.schema.createIndex('offer_nonces_by_time').on('offer_nonces').column('until').execute()
  await db.schema
    .createIndex('offer_nonces_used')
    .on('offer_nonces')
    .columns(['chain_id', 'solver', 'nonce'])
    .where(sql<SqlBool>`used = 1`)
    .execute()
}

/** The position of each chain in the event log, and its leader. */
async function createChainTables(db: TableCreator): Promise<void> {
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
  await db.schema
    .createTable('chain_leaders')
    .addColumn('chain_id', 'bigint', (column) => column.primaryKey())
    .addColumn('epoch', 'bigint', (column) => column.notNull())
    .execute()
}

/** The leases of the replicas that hold sessions, and the key with which replicas sign requests to each other. */
async function createReplicas(db: TableCreator): Promise<void> {
  await db.schema
    .createTable('replicas')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('renewed_since_ms', 'bigint', (column) => column.notNull())
    .addColumn('expires_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('url', 'text')
    .execute()
  await db.schema
    .createTable('replica_keys')
    .addColumn('replica_key', 'text', (column) => column.notNull())
    .execute()
}
