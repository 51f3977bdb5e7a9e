import { formatDuration } from '../../../packages/cli/src/output/printable.js'
import type { PostgresState } from '../../store/postgres/postgres-inspection.js'
import { NO_CONTENT } from '../../store/stored-content.js'
import type { ExaminedDatabase } from './check-database.js'
import { type CheckResult, createReport, type Report } from './check-result.js'

const VARIABLE = 'DATABASE_URL'
/** The first version with `idle_session_timeout`, which ends the leadership of a frozen replica. */
const OLDEST_VERSION = 14
/** Ten for statements, one for notifications and leader election, one for rate limits. */
const REPLICA_CONNECTIONS = 12

const REMEDY = `Correct ${VARIABLE}: are host, port, user, password and sslmode right, does the server run with free connections, and is its firewall open?`

/** Checks the PostgreSQL that replicas share. It changes nothing there, and no result contains the password. */
export async function examinePostgres(databaseUrl: string): Promise<ExaminedDatabase> {
  const { ok, fail, list } = createReport(VARIABLE)
  const { createPostgresReader, readSharedContent } = await import(
    '../../store/postgres/postgres-inspection.js'
  )
  let address = 'it'
  try {
    const reader = createPostgresReader(databaseUrl)
    address = reader.address
    const start = performance.now()
    const state = await reader.read()
    ok('reachable', `${address} answers in ${formatDuration(performance.now() - start)}`)
    const judged = checkServer(state)
    const isUsable = judged.every(({ status }) => status !== 'fail')
    const hasTables = state.hasTables && state.pending.length === 0
    return {
      checkResults: [...list, ...judged],
      content: isUsable && hasTables ? await readSharedContent(databaseUrl) : NO_CONTENT,
    }
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    fail('reachable', `${address} cannot be used: ${message || code}`, REMEDY)
    return { checkResults: list, content: NO_CONTENT }
  }
}

/** Checks the state that a PostgreSQL server has returned. */
export function checkServer(state: PostgresState): readonly CheckResult[] {
  const report = createReport(VARIABLE)
  const { version, majorVersion, maxConnections, freeConnections } = state
  const text = `PostgreSQL ${version}`
  if (majorVersion >= OLDEST_VERSION) report.ok('version', text)
  else report.fail('version', `${text} is too old`, `Use version ${OLDEST_VERSION} or later.`)
  checkPrivileges(state, report)
  checkTables(state, report)
  checkNeighbours(state, report)
  const room = `${freeConnections} of ${maxConnections} are free; a replica uses up to ${REPLICA_CONNECTIONS}`
  const remedy = "Raise the server's max_connections, or run fewer replicas."
  report.judge('connections', freeConnections >= REPLICA_CONNECTIONS, room, remedy)
  return report.list
}

function checkPrivileges(state: PostgresState, { ok, fail }: Report): void {
  const { user, database, schema, mayCreate, isReadOnly, forbidden, pending } = state
  const place = `schema ${schema} of database ${database}`
  const toUser = `to "${user}";`
  if (isReadOnly) {
    const remedy = `Set ${VARIABLE} to the primary, or turn default_transaction_read_only off.`
    fail('rights', `database ${database} accepts no writes: it is a standby, or read-only`, remedy)
  } else if (schema === null) {
    const remedy = 'Create a schema that the search_path names, or correct the search_path.'
    fail('rights', `user ${user} has no schema: no schema in its search_path exists`, remedy)
  } else if (forbidden.length > 0) {
    const remedy = `As the owner of the tables: grant select, insert, update, delete on all tables in schema "${schema}" ${toUser}`
    fail('rights', `user ${user} may not read and write ${forbidden.join(', ')} in ${place}`, remedy)
  } else if (pending.length > 0 && !mayCreate) {
    const remedy = `As the owner of the schema: grant create on schema "${schema}" ${toUser}`
    fail('rights', `user ${user} may not create tables in ${place}`, remedy)
  } else ok('rights', `user ${user} may write ${place}`)
}

/**
 * Whoever may connect can take the advisory locks of the replicas, and fill their connections. Whoever may create functions
 * in the schema can have the service run them as its own user (docs/security.md).
 */
function checkNeighbours(state: PostgresState, { warn, fail }: Report): void {
  const { database, schema, isOpenToAll, isWritableByAll } = state
  if (isWritableByAll) {
    const remedy = `As the owner of the schema: revoke create on schema "${schema}" from public;`
    fail('schema', `every user of database ${database} may create functions in schema ${schema}`, remedy)
  }
  if (!isOpenToAll) return
  const remedy = `As the owner of the database: revoke connect on database "${database}" from public;`
  warn('neighbours', `every user of the server may connect to database ${database}`, remedy)
}

/** The migrations of tables that the user may not read are unknown. */
function checkTables(
  { hasTables, forbidden, unknown, pending }: PostgresState,
  { ok, warn, fail }: Report,
): void {
  if (forbidden.length > 0) return
  if (unknown !== undefined) {
    const remedy =
      'Run the version that wrote it, restore a backup of this version, or use a database without tables of another program.'
    fail('tables', `the database ${unknown}`, remedy)
  } else if (!hasTables) ok('tables', 'the first start creates them')
  else if (pending.length > 0) {
    const remedy = 'Make a backup before the start. Older versions cannot start on the database after it.'
    warn('tables', `the next start adds ${pending.join(', ')}`, remedy)
  } else ok('tables', 'they have this version')
}
