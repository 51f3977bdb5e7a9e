import type { PostgresState } from '../../store/postgres-state.js'
import { formatDuration } from '../printable.js'
import type { ExaminedDatabase } from './check-database.js'
import { collectFindings, type Finding, type Findings } from './finding.js'

const VARIABLE = 'DATABASE_URL'
/** The first that has `idle_session_timeout`, by which a frozen replica loses its offices. */
const OLDEST_VERSION = 14
/** Ten for statements, one that listens and is elected on, one for rate limits. */
const REPLICA_CONNECTIONS = 12

/** What to do about a connection that cannot be made, by its error's code: SQLSTATE, or that of the system. */
const CURES: Readonly<Record<string, string>> = {
  ENOTFOUND: `Correct the host in ${VARIABLE}.`,
  EAI_AGAIN: `Correct the host in ${VARIABLE}, or this machine's DNS.`,
  ECONNREFUSED: `Start PostgreSQL there, or correct host and port in ${VARIABLE}.`,
  '28P01': `Correct user and password in ${VARIABLE}.`,
  '28000': `Correct the user in ${VARIABLE}, or let it in by the server's pg_hba.conf.`,
  '3D000': `Create the database, or correct its name in ${VARIABLE}.`,
  '53300': "Raise the server's max_connections, or end programs that have connections to spare.",
}
const OTHER_CURE = `Correct ${VARIABLE}: are host, port, user, password and sslmode right, the server running, its firewall open?`

/** Checks the PostgreSQL that replicas share; changes nothing there, and never repeats the password. */
export async function examinePostgres(databaseUrl: string): Promise<ExaminedDatabase> {
  const findings = collectFindings(VARIABLE)
  const { createPostgresReader, readSharedSolvers } = await import('../../store/postgres-state.js')
  let address = 'it'
  try {
    const reader = createPostgresReader(databaseUrl)
    address = reader.address
    const start = performance.now()
    const state = await reader.read()
    findings.ok('reachable', `${address} answers in ${formatDuration(performance.now() - start)}`)
    const judged = judgePostgres(state)
    const isUsable = judged.every(({ status }) => status !== 'fail')
    const hasTables = state.hasTables && state.pending.length === 0
    return {
      findings: [...findings.list, ...judged],
      solvers: isUsable && hasTables ? await readSharedSolvers(databaseUrl) : [],
    }
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    findings.fail('reachable', `${address} cannot be used: ${message || code}`, CURES[code] ?? OTHER_CURE)
    return { findings: findings.list, solvers: [] }
  }
}

/** Judges what a PostgreSQL has said of itself. */
export function judgePostgres(state: PostgresState): readonly Finding[] {
  const findings = collectFindings(VARIABLE)
  const { version, majorVersion, maxConnections, freeConnections } = state
  const text = `PostgreSQL ${version}`
  if (majorVersion >= OLDEST_VERSION) findings.ok('version', text)
  else findings.fail('version', `${text} is too old`, `Take ${OLDEST_VERSION} or later.`)
  judgeRights(state, findings)
  judgeTables(state, findings)
  const room = `${freeConnections} of ${maxConnections} are free, of which a replica takes up to ${REPLICA_CONNECTIONS}`
  const cure = "Raise the server's max_connections, or run fewer replicas."
  if (freeConnections >= REPLICA_CONNECTIONS) findings.ok('connections', room)
  else findings.warn('connections', room, cure)
  return findings.list
}

function judgeRights(state: PostgresState, findings: Findings): void {
  const { user, database, schema, mayCreate, isReadOnly, forbidden, pending } = state
  const place = `schema ${schema} of database ${database}`
  const toUser = `to "${user}";`
  if (isReadOnly) {
    const cure = `Name the primary in ${VARIABLE}, or take default_transaction_read_only away.`
    findings.fail('rights', `database ${database} takes no writes: it is a standby, or read-only`, cure)
  } else if (schema === null) {
    const cure = 'Create a schema that is in it, or correct it.'
    findings.fail('rights', `user ${user} has no schema: its search_path names none that is there`, cure)
  } else if (forbidden.length > 0) {
    const cure = `As their owner: grant select, insert, update, delete on all tables in schema "${schema}" ${toUser}`
    findings.fail('rights', `user ${user} may not read and write ${forbidden.join(', ')} in ${place}`, cure)
  } else if (pending.length > 0 && !mayCreate) {
    const cure = `As its owner: grant create on schema "${schema}" ${toUser}`
    findings.fail('rights', `user ${user} may not create tables in ${place}`, cure)
  } else findings.ok('rights', `user ${user} may write ${place}`)
}

/** Tables that may not be read have no migrations that are known. */
function judgeTables({ hasTables, forbidden, newer, pending }: PostgresState, findings: Findings): void {
  if (forbidden.length > 0) return
  if (newer.length > 0) {
    const cure =
      'Run the version that wrote them or a later one, restore the backup from before, or take a database that no other program has.'
    findings.fail('tables', `they were written by a newer version: they have ${newer.join(', ')}`, cure)
  } else if (!hasTables) findings.ok('tables', 'they will be made by the first start')
  else if (pending.length > 0) {
    const cure = 'Back the database up before: an older version will not start on it any more.'
    findings.warn('tables', `they get ${pending.join(', ')} at the next start`, cure)
  } else findings.ok('tables', 'they are of this version')
}
