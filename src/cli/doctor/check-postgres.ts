import type { PostgresState } from '../../store/postgres-inspection.js'
import { formatDuration } from '../printable.js'
import type { ExaminedDatabase } from './check-database.js'
import { type CheckResult, type CheckResults, collectResults } from './check-result.js'

const VARIABLE = 'DATABASE_URL'
/** The first that has `idle_session_timeout`, by which a frozen replica loses its offices. */
const OLDEST_VERSION = 14
/** Ten for statements, one that listens and is elected on, one for rate limits. */
const REPLICA_CONNECTIONS = 12

/** What to do about a connection that cannot be made, by its error's code: SQLSTATE, or that of the system. */
const REMEDIES: Readonly<Record<string, string>> = {
  ENOTFOUND: `Correct the host in ${VARIABLE}.`,
  EAI_AGAIN: `Correct the host in ${VARIABLE}, or this machine's DNS.`,
  ECONNREFUSED: `Start PostgreSQL there, or correct host and port in ${VARIABLE}.`,
  '28P01': `Correct user and password in ${VARIABLE}.`,
  '28000': `Correct the user in ${VARIABLE}, or let it in by the server's pg_hba.conf.`,
  '3D000': `Create the database, or correct its name in ${VARIABLE}.`,
  '53300': "Raise the server's max_connections, or end programs that have connections to spare.",
}
const OTHER_REMEDY = `Correct ${VARIABLE}: are host, port, user, password and sslmode right, the server running, its firewall open?`

/** Checks the PostgreSQL that replicas share; changes nothing there, and never repeats the password. */
export async function examinePostgres(databaseUrl: string): Promise<ExaminedDatabase> {
  const checkResults = collectResults(VARIABLE)
  const { createPostgresReader, readSharedSolvers } = await import('../../store/postgres-inspection.js')
  let address = 'it'
  try {
    const reader = createPostgresReader(databaseUrl)
    address = reader.address
    const start = performance.now()
    const state = await reader.read()
    checkResults.ok('reachable', `${address} answers in ${formatDuration(performance.now() - start)}`)
    const judged = checkServer(state)
    const isUsable = judged.every(({ status }) => status !== 'fail')
    const hasTables = state.hasTables && state.pending.length === 0
    return {
      checkResults: [...checkResults.list, ...judged],
      solvers: isUsable && hasTables ? await readSharedSolvers(databaseUrl) : [],
    }
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    checkResults.fail(
      'reachable',
      `${address} cannot be used: ${message || code}`,
      REMEDIES[code] ?? OTHER_REMEDY,
    )
    return { checkResults: checkResults.list, solvers: [] }
  }
}

/** Judges what a PostgreSQL has said of itself. */
export function checkServer(state: PostgresState): readonly CheckResult[] {
  const checkResults = collectResults(VARIABLE)
  const { version, majorVersion, maxConnections, freeConnections } = state
  const text = `PostgreSQL ${version}`
  if (majorVersion >= OLDEST_VERSION) checkResults.ok('version', text)
  else checkResults.fail('version', `${text} is too old`, `Take ${OLDEST_VERSION} or later.`)
  checkPrivileges(state, checkResults)
  checkTables(state, checkResults)
  const room = `${freeConnections} of ${maxConnections} are free, of which a replica takes up to ${REPLICA_CONNECTIONS}`
  const remedy = "Raise the server's max_connections, or run fewer replicas."
  if (freeConnections >= REPLICA_CONNECTIONS) checkResults.ok('connections', room)
  else checkResults.warn('connections', room, remedy)
  return checkResults.list
}

function checkPrivileges(state: PostgresState, checkResults: CheckResults): void {
  const { user, database, schema, mayCreate, isReadOnly, forbidden, pending } = state
  const place = `schema ${schema} of database ${database}`
  const toUser = `to "${user}";`
  if (isReadOnly) {
    const remedy = `Name the primary in ${VARIABLE}, or take default_transaction_read_only away.`
    checkResults.fail('rights', `database ${database} takes no writes: it is a standby, or read-only`, remedy)
  } else if (schema === null) {
    const remedy = 'Create a schema that is in it, or correct it.'
    checkResults.fail(
      'rights',
      `user ${user} has no schema: its search_path names none that is there`,
      remedy,
    )
  } else if (forbidden.length > 0) {
    const remedy = `As their owner: grant select, insert, update, delete on all tables in schema "${schema}" ${toUser}`
    checkResults.fail(
      'rights',
      `user ${user} may not read and write ${forbidden.join(', ')} in ${place}`,
      remedy,
    )
  } else if (pending.length > 0 && !mayCreate) {
    const remedy = `As its owner: grant create on schema "${schema}" ${toUser}`
    checkResults.fail('rights', `user ${user} may not create tables in ${place}`, remedy)
  } else checkResults.ok('rights', `user ${user} may write ${place}`)
}

/** Tables that may not be read have no migrations that are known. */
function checkTables(
  { hasTables, forbidden, newer, pending }: PostgresState,
  checkResults: CheckResults,
): void {
  if (forbidden.length > 0) return
  if (newer.length > 0) {
    const remedy =
      'Run the version that wrote them or a later one, restore the backup from before, or take a database that no other program has.'
    checkResults.fail('tables', `they were written by a newer version: they have ${newer.join(', ')}`, remedy)
  } else if (!hasTables) checkResults.ok('tables', 'they will be made by the first start')
  else if (pending.length > 0) {
    const remedy = 'Back the database up before: an older version will not start on it any more.'
    checkResults.warn('tables', `they get ${pending.join(', ')} at the next start`, remedy)
  } else checkResults.ok('tables', 'they are of this version')
}
