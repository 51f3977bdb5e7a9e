import { randomBytes } from 'node:crypto'
import { type Migration, sql } from 'kysely'

/** All tables of the first release. SQLite and PostgreSQL take the same statements. */
const STATEMENTS = [
  `create table solvers (chain_id bigint not null, address text not null, endpoint_url text not null,
    name text not null, registered_at_ms bigint not null, is_bonded integer not null,
    unbonded_since_ms bigint, session_id text, session_replica text, session_ended_at_ms bigint,
    constraint solvers_pk primary key (chain_id, address))`,
  `create table solver_timestamps (chain_id bigint not null, address text not null,
    last_timestamp_ms bigint not null, constraint solver_timestamps_pk primary key (chain_id, address))`,
  `create table listed_solvers (list text not null, chain_id bigint not null, address text not null,
    listed_at_ms bigint not null, constraint listed_solvers_pk primary key (list, chain_id, address))`,
  `create table api_keys (id text primary key, label text not null, digest text not null,
    limits text not null, created_at_ms bigint not null, expires_at_ms bigint, revoked_at_ms bigint,
    last_used_day text)`,
  `create unique index api_keys_label on api_keys (label) where revoked_at_ms is null`,
  // The circuit breakers, the bonds, and the key of quote ids for solvers.
  `create table solver_circuit_breakers (chain_id bigint not null, address text not null,
    endpoint_url text not null, level integer not null, until_ms bigint not null,
    constraint solver_circuit_breakers_pk primary key (chain_id, address))`,
  `create table solver_bonds (chain_id bigint not null, address text not null, free_bond text not null,
    total_bond text not null, constraint solver_bonds_pk primary key (chain_id, address))`,
  `create table record_keys (record_key text not null)`,
  `create table event_log (log_id text not null, pruned_sequence bigint not null,
    last_sequence bigint default 0 not null)`,
  `create table events (sequence bigint primary key, chain_id bigint not null, block_number bigint not null,
    block_hash text not null, log_index bigint not null, type text not null, details text not null,
    order_id text not null, "user" text not null, solver text, is_canonical integer not null,
    published_at_ms bigint not null, transaction_hash text not null, block_time bigint not null)`,
  // With type and order: two events of a block can have the same log index, because nodes count a block's logs differently.
  `create unique index events_canonical on events (chain_id, block_number, log_index, type,
    order_id) where is_canonical = 1`,
  `create index events_set_aside on events (chain_id, order_id) where is_canonical = 2`,
  // Chains and types are few, so a read scans a bounded range for them.
  `create index events_of_order_id on events (order_id, sequence)`,
  `create index events_of_user on events ("user", sequence)`,
  `create index events_of_solver on events (solver, sequence)`,
  `create table orders (chain_id bigint not null, order_id text not null, block_number bigint not null,
    log_index bigint not null, state text not null, "user" text not null, solver text, terms text,
    steps text not null, constraint orders_pk primary key (chain_id, order_id))`,
  `create index orders_by_state on orders (chain_id, state, block_number, log_index)`,
  `create index orders_by_user on orders (chain_id, "user", state, block_number, log_index)`,
  `create index orders_by_solver on orders (chain_id, solver, state, block_number, log_index)`,
  `create index orders_by_parties on orders (chain_id, "user", solver, state, block_number, log_index)`,
  `create index orders_without_terms on orders (chain_id, block_number, log_index) where terms is null`,
  `create table solver_order_hours (chain_id bigint not null, solver text not null, hour bigint not null,
    orders bigint not null, deposited bigint not null, settled bigint not null, refunded bigint not null,
    constraint solver_order_hours_pk primary key (chain_id, solver, hour))`,
  `create index solver_order_hours_by_hour on solver_order_hours (chain_id, hour)`,
  `create table solver_hours (chain_id bigint not null, hour bigint not null, solver text not null,
    writer text not null, response_times text not null, quoted bigint not null, declined bigint not null,
    invalid bigint not null, failed bigint not null, late bigint not null, soft_deadline bigint not null,
    won bigint not null, won_alone bigint not null,
    constraint solver_hours_pk primary key (chain_id, hour, solver, writer))`,
  `create index solver_hours_by_hour on solver_hours (hour)`,
  `create index solver_hours_by_solver on solver_hours (chain_id, solver, hour)`,
  // The nonces of offers. There are many, of which few are used.
  `create table offer_nonces (chain_id bigint not null, order_id text not null, solver text not null,
    nonce text not null, until bigint not null, used integer not null,
    constraint offer_nonces_pk primary key (chain_id, order_id, solver, nonce))`,
  `create index offer_nonces_by_time on offer_nonces (until)`,
  `create index offer_nonces_used on offer_nonces (chain_id, solver, nonce) where used = 1`,
  // The position of each chain in the event log, and its leader.
  `create table chain_positions (chain_id bigint primary key, settlement text not null,
    first_block bigint not null)`,
  `create table chain_headers (chain_id bigint not null, number bigint not null, hash text not null,
    parent_hash text not null, constraint chain_headers_pk primary key (chain_id, number))`,
  `create table chain_leaders (chain_id bigint primary key, epoch bigint not null)`,
  // The leases of the replicas that hold sessions, and the key with which replicas sign requests to each other.
  `create table replicas (id text primary key, renewed_since_ms bigint not null,
    expires_at_ms bigint not null, url text)`,
  `create table replica_keys (replica_key text not null)`,
]

/** Creates the tables, with the log's id and the keys: the migrator lets one replica do so, in one transaction. */
export const initial: Migration = {
  async up(db) {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
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
