import SQLite from 'better-sqlite3'
import pg from 'pg'
import type { TestChain } from '../chain/chain.js'
import { listOrders } from '../clients/list-orders.js'
import { eventually } from '../eventually.js'
import { environmentForAll } from '../service/event-service.js'
import { startService } from '../service/service.js'
import type { TestDatabase } from './service-databases.js'

/** What the upgrade makes of the log of an older version: events without transactions and times, and no orders. */
const STATEMENTS = [
  'update events set transaction_hash = null, block_time = null, is_in_orders = null',
  'delete from orders',
]

/**
 * Makes a log like that of an older version after the upgrade.
 * @param environment the variable that names the database; no service may use a file at that time
 */
export async function makeLogOlder({ DATABASE_URL, DB_PATH }: Record<string, string>): Promise<void> {
  if (DATABASE_URL === undefined) {
    const file = new SQLite(DB_PATH)
    for (const statement of STATEMENTS) file.exec(statement)
    file.close()
    return
  }
  const client = new pg.Client({ connectionString: DATABASE_URL })
  await client.connect()
  for (const statement of STATEMENTS) await client.query(statement)
  await client.end()
}

/**
 * Has a service write the log of a chain, and makes it older.
 * @param orders the orders that the log must have
 * @returns the variables for a service on it
 */
export async function makeOlderDatabase(
  chain: TestChain,
  orders: number,
  make: () => Promise<TestDatabase>,
): Promise<TestDatabase> {
  const { environment: database, drop } = await make()
  const environment = {
    ...environmentForAll([chain]),
    ...database,
    [`START_BLOCK_${chain.chainId}`]: '0',
  }
  const before = await startService(chain, environment)
  await eventually(
    () => listOrders(chain.chainId, { pageSize: 200 }, () => before),
    ({ length }) => length === orders,
  )
  await before.close()
  await makeLogOlder(database)
  return { environment, drop }
}
