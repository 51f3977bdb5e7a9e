import { chmodSync, closeSync, existsSync, openSync } from 'node:fs'
import type { Hex } from 'viem'
import { openSqliteFile, type SqliteDatabase, type SqliteStatement } from '../../sqlite/src/sqlite.js'
import type { SolverQuote } from './orders/fillable-order.js'
import { fromWireQuote, toWireQuote } from './session/wire-quote.js'
import type { SignedTransaction } from './transactions/transaction-sender.js'

/** An order that was deposited, as far as the solver has come with it. */
export interface StoredOrder {
  readonly chainId: number
  readonly orderId: Hex
  /** Unix time in seconds. */
  readonly fillDeadline: number
  /**
   * `FILLED` has been paid, `FINAL` so many blocks ago that no reorganisation is expected to remove it, `MISSED` not in time. `LEFT`
   * is to be paid by the market maker, whose `fill` has returned.
   */
  readonly status: 'OPEN' | 'FILLED' | 'FINAL' | 'MISSED' | 'LEFT'
}

/** What the market maker was told last of an order or a transaction. */
export interface BookEntry {
  /** An order id, or the chain and the nonce of a transaction. */
  readonly id: string
  readonly chainId: number
  /** The chain's time when it was seen, Unix seconds. */
  readonly time: number
  readonly kind: 'DEPOSITED' | 'FILLED' | 'MISSED' | 'CANCELLED' | 'TRANSACTION'
  /** As JSON. */
  readonly entry: string
}

/** A transaction that is kept: its last attempt. */
export interface KeptPayment extends SignedTransaction {
  /** An order id, or another name, which has its chain. */
  readonly id: string
  /** The status of its order; null without one. */
  readonly status: StoredOrder['status'] | null
}

/** What must survive a restart: signed quotes, deposited orders, transactions and positions. */
export type SolverState = ReturnType<typeof openState>

const KEEP_QUOTE_SECONDS = 3_600
const KEEP_ORDER_SECONDS = 7 * 86_400
const KEEP_BOOKS_SECONDS = 400 * 86_400
/** Strangers can cause cancellations: so many of the newest are kept. */
const KEPT_CANCELLED = 100_000
export const VERSION = 7
/** An earlier process may be about to end. */
const LOCK_TIMEOUT_MS = 1_000
/** SQLite's name of a database without a file. */
export const MEMORY = ':memory:'
const PRIVATE = 0o600
const BOOKS = `
  CREATE TABLE books (id TEXT PRIMARY KEY, chainId INTEGER NOT NULL, time INTEGER NOT NULL, kind TEXT NOT NULL,
    entry TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE INDEX booksByKind ON books (chainId, kind, time);
  PRAGMA user_version = ${VERSION};`
/** Of the version before. What was paid lately is read and told again, since a reorganisation may still remove it. */
const MIGRATION = `${BOOKS}
  UPDATE orders SET status = 'OPEN' WHERE status = 'FILLED'`
const SCHEMA = `${BOOKS}
  CREATE TABLE quotes (orderId TEXT PRIMARY KEY, chainId INTEGER NOT NULL, depositAddress TEXT NOT NULL,
    fillDeadline INTEGER NOT NULL, quote TEXT NOT NULL, signature TEXT NOT NULL,
    endedAt INTEGER) STRICT, WITHOUT ROWID;
  CREATE TABLE orders (orderId TEXT PRIMARY KEY, chainId INTEGER NOT NULL, fillDeadline INTEGER NOT NULL,
    status TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE attempts (payment TEXT NOT NULL, chainId INTEGER NOT NULL, hash TEXT NOT NULL, raw TEXT NOT NULL,
    nonce INTEGER NOT NULL, PRIMARY KEY (payment, hash)) STRICT;
  CREATE INDEX quotesByEnd ON quotes (chainId, endedAt);
  CREATE INDEX ordersByStatus ON orders (status);
  CREATE TABLE positions (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT`
/** The columns of a `SolverQuote`. */
const SIGNED = 'orderId, chainId, depositAddress, quote, signature'

/** What the request has said stands with the members of the quote. */
type SignedRow = Omit<SolverQuote, 'quote' | 'quoteId' | 'isForAddress'> & { readonly quote: string }

/**
 * Opens the state, which one process at a time can have.
 * @param path a SQLite file, or `:memory:`
 * @throws Error when another process has the file, or it is of another version
 */
export function openState(path: string) {
  const { database, close } = openDatabase(path)
  const statements = new Map<string, SqliteStatement<(string | number | object)[], unknown>>()

  /** A statement, which is prepared once. */
  function sql<T = unknown>(text: string) {
    const statement = statements.get(text) ?? database.prepare(text)
    statements.set(text, statement)
    return statement as SqliteStatement<(string | number | object)[], T>
  }

  return {
    /** Keeps a quote before it is sent. The same price may be signed again. */
    addQuote({ quote, quoteId, isForAddress, ...signed }: SolverQuote): void {
      const { fillDeadline } = quote
      const text = JSON.stringify({ ...toWireQuote(quote), quoteId, isForAddress })
      sql(
        `INSERT INTO quotes VALUES (@orderId, @chainId, @depositAddress, @fillDeadline, @text, @signature, NULL)
          ON CONFLICT DO NOTHING`,
      ).run({ ...signed, text, fillDeadline })
    },
    quote: (orderId: Hex) =>
      sql<SignedRow>(`SELECT ${SIGNED} FROM quotes WHERE orderId = ?`).all(orderId).map(toQuote)[0],
    /** The quotes of a chain that have not ended. */
    keptQuotes: (chainId: number) =>
      sql<SignedRow>(`SELECT ${SIGNED} FROM quotes WHERE chainId = ? AND endedAt IS NULL`)
        .all(chainId)
        .map(toQuote),
    /** How many quotes and orders have not ended, by chain. */
    countOpen: () =>
      sql<{ chainId: number; count: number }>(
        `SELECT chainId, count(*) AS count FROM (SELECT chainId FROM quotes WHERE endedAt IS NULL
          UNION ALL SELECT chainId FROM orders WHERE status = 'OPEN') GROUP BY chainId`,
      ).all(),
    /** The nonce of a quote is used. @param time of the chain, Unix seconds */
    endQuote: (orderId: Hex, time: number) =>
      void sql('UPDATE quotes SET endedAt = ? WHERE orderId = ?').run(time, orderId),
    /** Another one says all that counts. */
    dropQuote: (orderId: Hex) => void sql('DELETE FROM quotes WHERE orderId = ?').run(orderId),
    /** The nonce of a quote is not used any more. */
    reopenQuote: (orderId: Hex) =>
      void sql('UPDATE quotes SET endedAt = NULL WHERE orderId = ?').run(orderId),
    /** The quotes of a chain that have ended. */
    endedQuotes: (chainId: number) =>
      sql<SignedRow>(`SELECT ${SIGNED} FROM quotes WHERE chainId = ? AND endedAt IS NOT NULL`)
        .all(chainId)
        .map(toQuote),
    /** A quote of a chain that has ended, and whose fill deadline is before that time. */
    endedQuote: (chainId: number, time: number) =>
      sql<SignedRow>(
        `SELECT ${SIGNED} FROM quotes WHERE chainId = ? AND endedAt IS NOT NULL AND fillDeadline < ?
          ORDER BY endedAt DESC LIMIT 1`,
      )
        .all(chainId, time)
        .map(toQuote)[0],
    /** Keeps an order. One that is known does not change. */
    addOrder: (added: Omit<StoredOrder, 'status'>) =>
      void sql(
        `INSERT INTO orders VALUES (@orderId, @chainId, @fillDeadline, 'OPEN') ON CONFLICT DO NOTHING`,
      ).run(added),
    order: (orderId: Hex) => sql<StoredOrder>('SELECT * FROM orders WHERE orderId = ?').get(orderId),
    /** The orders of a chain that have a status, the nearest deadline first. */
    orders: (chainId: number, status: StoredOrder['status']) =>
      sql<StoredOrder>('SELECT * FROM orders WHERE chainId = ? AND status = ? ORDER BY fillDeadline').all(
        chainId,
        status,
      ),
    /** Its deposit is not there any more. */
    dropOrder: (orderId: Hex) => void sql('DELETE FROM orders WHERE orderId = ?').run(orderId),
    setStatus: (orderId: Hex, status: StoredOrder['status']) =>
      void sql('UPDATE orders SET status = ? WHERE orderId = ?').run(status, orderId),
    /**
     * What was signed for a payment, the newest last. All have the same nonce of the account.
     * @param payment an order id, or the name of another transaction, which has its chain
     */
    attempts: (payment: string) =>
      sql<SignedTransaction>('SELECT hash, raw, nonce FROM attempts WHERE payment = ? ORDER BY rowid').all(
        payment,
      ),
    /** Keeps an attempt before it is sent. */
    addAttempt: (payment: string, chainId: number, { hash, raw, nonce }: SignedTransaction) =>
      void sql('INSERT INTO attempts VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING').run(
        payment,
        chainId,
        hash,
        raw,
        nonce,
      ),
    clearAttempts: (payment: string) => void sql('DELETE FROM attempts WHERE payment = ?').run(payment),
    renamePayment: (payment: string, next: string) =>
      void sql('UPDATE attempts SET payment = ? WHERE payment = ?').run(next, payment),
    /** All payments of a chain that are kept, by nonce. SQLite takes the columns from the row that has the maximum. */
    keptPayments: (chainId: number) =>
      sql<KeptPayment>(
        `SELECT payment AS id, hash, raw, nonce, status, max(attempts.rowid) FROM attempts LEFT JOIN orders
          ON orderId = payment WHERE attempts.chainId = ? GROUP BY payment ORDER BY nonce`,
      ).all(chainId),
    bookEntry: (id: string) => sql<BookEntry>('SELECT * FROM books WHERE id = ?').get(id),
    setBookEntry: (entry: BookEntry) =>
      void sql('REPLACE INTO books VALUES (@id, @chainId, @time, @kind, @entry)').run(entry),
    dropBookEntry: (id: string) => void sql('DELETE FROM books WHERE id = ?').run(id),
    /** A position of a chain's blocks, or what has been learnt of it; undefined before the first one. */
    position: (name: string) =>
      sql<{ value: string }>('SELECT value FROM positions WHERE name = ?').get(name)?.value,
    setPosition: (name: string, value: string) =>
      void sql('REPLACE INTO positions VALUES (?, ?)').run(name, value),
    /**
     * Forgets quotes of a chain an hour after their end, orders a week after their deadline, and the books after 400 days.
     * @param time of the chain, Unix seconds
     */
    prune(chainId: number, time: number): void {
      sql(
        `DELETE FROM orders WHERE chainId = ? AND fillDeadline < ? AND status <> 'OPEN'
          AND orderId NOT IN (SELECT orderId FROM quotes WHERE endedAt IS NULL)`,
      ).run(chainId, time - KEEP_ORDER_SECONDS)
      sql(
        'DELETE FROM quotes WHERE chainId = ? AND endedAt < ? AND orderId NOT IN (SELECT orderId FROM orders)',
      ).run(chainId, time - KEEP_QUOTE_SECONDS)
      sql(`DELETE FROM books WHERE chainId = ? AND kind <> 'DEPOSITED' AND time < ?`).run(
        chainId,
        time - KEEP_BOOKS_SECONDS,
      )
      sql(
        `DELETE FROM books WHERE chainId = @chainId AND kind = 'CANCELLED' AND time < (SELECT time FROM books
          WHERE chainId = @chainId AND kind = 'CANCELLED' ORDER BY time DESC LIMIT 1 OFFSET ${KEPT_CANCELLED})`,
      ).run({ chainId })
    },
    close,
  }
}

function openDatabase(path: string) {
  const opened: SqliteDatabase[] = []
  const closeAll = () => {
    for (const file of opened.splice(0)) file.close()
  }
  function open(name: string): SqliteDatabase {
    if (path !== MEMORY) makePrivate(name)
    const file = openSqliteFile(name, { timeout: LOCK_TIMEOUT_MS })
    opened.push(file)
    return file
  }
  try {
    // Two processes with one state would pay for an order twice. A process that is killed releases the lock. It has a file of its own,
    // so that others can read the books.
    open(path === MEMORY ? MEMORY : `${path}-lock`).exec('BEGIN EXCLUSIVE')
    const database = open(path)
    database.pragma('journal_mode = WAL')
    database.pragma('synchronous = NORMAL')
    const version = database.pragma('user_version', { simple: true })
    const script = version === 0 ? SCHEMA : version === VERSION - 1 ? MIGRATION : undefined
    if (script !== undefined) database.transaction(() => database.exec(script))()
    else if (version !== VERSION) throw new Error(`it is of version ${version}, and not ${VERSION}`)
    return { database, close: closeAll }
  } catch (error) {
    closeAll()
    const { code, message } = error as { code?: string; message: string }
    const why = code === 'SQLITE_BUSY' ? 'another process has it' : message
    throw new Error(`stateFile ${path} cannot be opened: ${why}`, { cause: error })
  }
}

/**
 * Lets only the owner of this process read the file. Whoever may read it can lock it, and keep the kit from starting. SQLite gives
 * its companions the mode of the file.
 */
function makePrivate(path: string): void {
  // A file that exists is not opened here: its close would release the locks that this process has on it.
  if (!existsSync(path)) closeSync(openSync(path, 'wx', PRIVATE))
  for (const name of [path, `${path}-wal`, `${path}-shm`, `${path}-journal`])
    if (existsSync(name)) chmodSync(name, PRIVATE)
}

function toQuote(row: SignedRow): SolverQuote {
  const { quoteId, isForAddress, ...quote } = JSON.parse(row.quote)
  return { ...row, quoteId, isForAddress, quote: fromWireQuote(quote) }
}
