import { setImmediate as nextTurn } from 'node:timers/promises'
import { type ExpressionBuilder, type Kysely, type Migration, type SelectQueryBuilder, sql } from 'kysely'
import { BATCH_ROWS } from '../database.js'
import type {
  QuoteRecordStore,
  RecordFilter,
  RecordPage,
  RecordPosition,
  StoredQuoteRecord,
} from './quote-record-store.js'

/** The tables of quote records. */
export interface QuoteRecordSchema {
  quote_records: {
    quote_id: string
    requested_at_ms: number
    /** JSON of a QuoteRecord. */
    record: string
    /** Bytes written before this record; unused in a file, whose pages are counted instead. */
    start_byte: number
  }
  /** A table with one row. */
  quote_record_bytes: {
    written_bytes: number
  }
}

/** Measures the stored records. */
interface RecordSize {
  /**
   * Counts bytes before they are written.
   * @returns the count before them
   */
  count(bytes: number): Promise<number>
  /** The bytes that the records use. */
  used(): Promise<number>
}

/** Rows removed at once to make room. They are few, because a record may have tens of kilobytes. */
const ROOM_ROWS = 10
/** Size of a row without its record: its id, its time, and both in an index. */
const ROW_BYTES = 200

/** Migrations of the records' tables, which are a set of their own. */
export const quoteRecordMigrations: Record<string, Migration> = {
  '001-initial': {
    async up(db) {
      await db.schema
        .createTable('quote_records')
        .addColumn('quote_id', 'text', (column) => column.primaryKey())
        .addColumn('requested_at_ms', 'bigint', (column) => column.notNull())
        .addColumn('record', 'text', (column) => column.notNull())
        .addColumn('start_byte', 'bigint', (column) => column.notNull().defaultTo(0))
        .execute()
      await db.schema
        .createIndex('quote_records_requested_at')
        .on('quote_records')
        .column('requested_at_ms')
        .execute()
      await db.schema
        .createTable('quote_record_bytes')
        .addColumn('written_bytes', 'bigint', (column) => column.notNull())
        .execute()
      await db.insertInto('quote_record_bytes').values({ written_bytes: 0 }).execute()
    },
  },
}

/** Builds the store of records over an open database, which it closes at its end. */
export function createQuoteRecordTable(
  database: Kysely<QuoteRecordSchema>,
  { size, maxBytes }: { readonly size: RecordSize; readonly maxBytes: number },
): QuoteRecordStore {
  /** @returns the number of removed records */
  async function removeOldest(limit: number, before = Number.MAX_SAFE_INTEGER): Promise<number> {
    const oldest = database
      .selectFrom('quote_records')
      .select('quote_id')
      .where('requested_at_ms', '<', before)
      .orderBy('requested_at_ms')
      .limit(limit)
    const { numDeletedRows } = await database
      .deleteFrom('quote_records')
      .where('quote_id', 'in', oldest)
      .executeTakeFirst()
    return Number(numDeletedRows)
  }

  async function insert(records: readonly StoredQuoteRecord[]): Promise<void> {
    const bytes = records.map(({ record }) => Buffer.byteLength(record) + ROW_BYTES)
    let startByte = await size.count(bytes.reduce((sum, each) => sum + each, 0))
    const rows = records.map(({ quoteId, requestedAt, record }, index) => {
      const row = { quote_id: quoteId, requested_at_ms: requestedAt, record, start_byte: startByte }
      startByte += bytes[index] ?? 0
      return row
    })
    const insertion = database.insertInto('quote_records').values(rows)
    // A batch is saved again when its first result is unknown.
    await insertion.onConflict((conflict) => conflict.doNothing()).execute()
  }

  async function isTooLarge(): Promise<boolean> {
    return (await size.used()) > maxBytes
  }

  return {
    async save(records) {
      if (records.length === 0) return
      await insert(records)
      while ((await isTooLarge()) && (await removeOldest(ROOM_ROWS)) > 0) await nextTurn()
    },
    async read(quoteId) {
      const row = await database
        .selectFrom('quote_records')
        .select('record')
        .where('quote_id', '=', quoteId)
        .executeTakeFirst()
      return row?.record
    },
    list: (filter) => readRecordPage(database, filter),
    async pruneSome(before) {
      if ((await removeOldest(BATCH_ROWS, before)) > 0) return true
      return (await isTooLarge()) && (await removeOldest(ROOM_ROWS)) > 0
    },
    usedBytes: size.used,
    close: () => database.destroy(),
  }
}

/** The size of an SQLite file's used pages. Free pages are reused before the file grows. */
export function pagesInUse(database: Kysely<QuoteRecordSchema>): RecordSize {
  const query = sql<{ bytes: number }>`select (page_count - freelist_count) * page_size as bytes
    from pragma_page_count(), pragma_freelist_count(), pragma_page_size()`
  return {
    count: async () => 0,
    async used() {
      const { rows } = await query.execute(database)
      return rows[0]?.bytes ?? 0
    },
  }
}

/**
 * The length of all records from the oldest on, for tables that replicas share. One row counts all bytes ever written, and
 * each record stores the count before it. So the difference is right without a sum, whichever replica removes records.
 */
export function bytesSinceOldest(database: Kysely<QuoteRecordSchema>): RecordSize {
  return {
    async count(bytes) {
      const row = await database
        .updateTable('quote_record_bytes')
        .set((update) => ({ written_bytes: update('written_bytes', '+', bytes) }))
        .returning('written_bytes')
        .executeTakeFirstOrThrow()
      return row.written_bytes - bytes
    },
    async used() {
      const { written_bytes } = await database
        .selectFrom('quote_record_bytes')
        .select('written_bytes')
        .executeTakeFirstOrThrow()
      const oldest = await database
        .selectFrom('quote_records')
        .select('start_byte')
        .orderBy('requested_at_ms')
        .limit(1)
        .executeTakeFirst()
      return oldest === undefined ? 0 : Math.max(0, written_bytes - oldest.start_byte)
    },
  }
}

/** The records that one page reads. With ten solvers each, they have 1 MiB. */
const PAGE_RECORDS = 500

type Query<Row> = SelectQueryBuilder<QuoteRecordSchema, 'quote_records', Row>

/**
 * Reads a page of a solver's records. No index has their solvers: it would take a row for each solver of each quote. So a
 * page reads a limited number of records, and has those of the solver among them.
 */
async function readRecordPage(
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
