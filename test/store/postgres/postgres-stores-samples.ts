import pg from 'pg'
import { onTestFinished } from 'vitest'
import { type Coordination, openTables } from '../../../src/store/database.js'
import { createEventStore } from '../../../src/store/events/event-store.js'
import {
  createConnectionPool,
  mapConnectionErrors,
  POSTGRES_COORDINATION,
} from '../../../src/store/postgres/postgres.js'
import { POSTGRES_TABLES } from '../../../src/store/postgres/postgres-stores.js'
import type { Schema } from '../../../src/store/schema.js'
import { createSolverStore } from '../../../src/store/solvers/solver-store.js'

/** Connections of replicas to a database, in pg_stat_activity. */
export const CONNECTIONS = "datname = current_database() and application_name = 'quote-aggregator'"

/** The error of a store whose database is down. */
export const UNAVAILABLE = { name: 'ServiceError', reason: 'DATABASE_UNAVAILABLE', httpStatus: 503 }

/** The stores of one replica, as the service opens them. They close with the test. */
export async function openStores(
  databaseUrl: string,
  { whenFinished = onTestFinished, coordination = POSTGRES_COORDINATION as Coordination } = {},
) {
  const pool = createConnectionPool(databaseUrl)
  whenFinished(pool.close)
  const database = await openTables<Schema>(pool.dialect(), POSTGRES_TABLES.main)
  return {
    pool,
    database,
    solvers: mapConnectionErrors(createSolverStore(database, coordination)),
    events: mapConnectionErrors(createEventStore(database, () => 1, coordination)),
  }
}

/** A connection next to those of the stores. It closes with the test. Its user handles its end. */
export async function connect(databaseUrl: string, whenFinished = onTestFinished): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl })
  client.on('error', () => {})
  await client.connect()
  whenFinished(() => client.end())
  return client
}

/** Locks what all registrations wait for. @returns the function that releases it */
export async function holdRegistrations(url: string): Promise<() => Promise<unknown>> {
  const holder = await connect(url)
  await holder.query('begin; lock table solvers in access exclusive mode')
  return () => holder.query('rollback')
}

/** The server's processes for connections of stores that wait for a lock. */
export const waiting = async (client: pg.Client) =>
  (await client.query(`select pid from pg_stat_activity where ${CONNECTIONS} and wait_event_type = 'Lock'`))
    .rows
