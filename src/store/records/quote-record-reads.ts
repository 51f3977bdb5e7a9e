import type { ExpressionBuilder, Kysely, SelectQueryBuilder } from 'kysely'
import type {
  QuoteRecordSchema,
  RecordFilter,
  RecordPage,
  RecordPosition,
  RecordSearch,
} from './quote-record-store.js'

/** Finds records for the operator, whoever they are of. @returns JSON of QuoteRecords, newest first */
export async function searchRecords(
  database: Kysely<QuoteRecordSchema>,
  { from, to, limit, ...keys }: RecordSearch,
): Promise<readonly string[]> {
  const columns = {
    chain_id: keys.chainId,
    user_address: keys.user,
    input_token: keys.inputToken,
    output_token: keys.outputToken,
    outcome: keys.outcome,
  }
  let query = database.selectFrom('quote_records').select('record')
  for (const [column, value] of Object.entries(columns))
    if (value !== undefined) query = query.where(column as keyof typeof columns, '=', value)
  const inTime = query.where('requested_at_ms', '>=', from).where('requested_at_ms', '<=', to)
  const rows = await inTime.orderBy('requested_at_ms', 'desc').limit(limit).execute()
  return rows.map(({ record }) => record)
}

/** The records that one page reads. With ten solvers each, they have 1 MiB. */
const PAGE_RECORDS = 500

type Query<Row> = SelectQueryBuilder<QuoteRecordSchema, 'quote_records', Row>

/**
 * Reads a page of a solver's records. No index has their solvers: it would take a row for each solver of each quote. So a
 * page reads a limited number of records, and has those of the solver among them.
 */
export async function readRecordPage(
  database: Kysely<QuoteRecordSchema>,
  filter: RecordFilter,
  recordsOfPage = PAGE_RECORDS,
): Promise<RecordPage> {
  const table = database.selectFrom('quote_records').where('requested_at_ms', '>=', filter.since)
  const { after } = filter
  const rest = after === undefined ? table : table.where((row) => compare(row, after, '<'))
  // The end is fixed first: records that are written meanwhile cannot move it.
  const end = await newestFirst(rest.select(['requested_at_ms', 'quote_id']))
    .offset(recordsOfPage - 1)
    .limit(1)
    .executeTakeFirst()
  const last = end && toPosition(end)
  const scanned = last === undefined ? rest : rest.where((row) => compare(row, last, '>='))
  const rows = await newestFirst(scanned.select(['requested_at_ms', 'quote_id', 'record']))
    .where('record', 'like', `%"chainId":${filter.chainId},%"solver":"${filter.solver}"%`)
    .limit(filter.limit)
    .execute()
  const lastRow = rows[filter.limit - 1]
  return { records: rows.map(({ record }) => record), next: lastRow ? toPosition(lastRow) : last }
}

/** Whether a row comes before a position in time and id (`<`), or not (`>=`). The first column alone can use the index. */
function compare(
  row: ExpressionBuilder<QuoteRecordSchema, 'quote_records'>,
  { requestedAt, quoteId }: RecordPosition,
  operator: '<' | '>=',
) {
  const outer = operator === '<' ? '<=' : '>='
  const inner = operator === '<' ? '<' : '>'
  return row.and([
    row('requested_at_ms', outer, requestedAt),
    row.or([row('requested_at_ms', inner, requestedAt), row('quote_id', operator, quoteId)]),
  ])
}

function newestFirst<Row>(query: Query<Row>): Query<Row> {
  return query.orderBy('requested_at_ms', 'desc').orderBy('quote_id', 'desc')
}

function toPosition(row: { requested_at_ms: number; quote_id: string }): RecordPosition {
  return { requestedAt: row.requested_at_ms, quoteId: row.quote_id }
}
