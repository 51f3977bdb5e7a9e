import SQLite from 'better-sqlite3'
import pg from 'pg'

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
