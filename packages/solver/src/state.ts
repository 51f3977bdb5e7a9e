import { chmodSync, closeSync, existsSync, openSync } from 'node:fs'
import type { Hex } from 'viem'
import { openSqliteFile, type SqliteDatabase } from '../../sqlite/src/sqlite.js'
import type { MissedOrder, SolverQuote } from './orders/order-terms.js'

/** An order as far as the solver has come with it, from its quote to its end. */
export interface StoredOrder {
  readonly chainId: number
  readonly orderId: Hex
  /** Unix time in seconds. */
  readonly fillDeadline: number
  /**
   * `QUOTED` has no deposit that is known or can still be paid for, and `OPEN` is to be paid. `FILLED` has been paid, and `MISSED` has
   * used up its nonce unpaid. `FINAL` has ended so many blocks ago that no reorganisation is expected to remove it.
   */
  readonly status: 'QUOTED' | 'OPEN' | 'FILLED' | 'FINAL' | 'MISSED'
  /** Undefined for an order that only its deposit has shown. */
  readonly signed: SolverQuote | undefined
}

/** What the market maker was told last of an order or a transaction, as JSON in `entry`. */
export interface BookEntry {
  /** An order id, or the chain and the nonce of a transaction. */
  readonly id: string
  readonly chainId: number
  /** The chain's time when it was seen, Unix seconds. */
  readonly time: number
  readonly kind: 'DEPOSITED' | 'FILLED' | 'MISSED' | 'CANCELLED' | 'TRANSACTION'
  readonly entry: string
}

/** An order that was not paid and has cost something. */
export interface Loss extends MissedOrder {
  /** 1 for a quote for an address; null for one that is not known. */
  readonly isForAddress: number | null
}

/** A transaction that is signed with a nonce of the account, so that it can be sent again without being carried out twice. */
export interface SignedTransaction {
  readonly hash: Hex
  /** The bytes that nodes take. */
  readonly raw: Hex
  readonly nonce: number
}

/** A transaction that is kept: its last attempt. */
export interface KeptPayment extends SignedTransaction {
  /** An order id, or another name, which has its chain. */
  readonly id: string
  /** The status of its order; null without one. */
  readonly status: StoredOrder['status'] | null
}

/**
 * What must survive a restart. One table has the life of each order: its quote until its nonce is known to be used (`endedAt`), and what
 * came of its deposit (`status`). Others have the transactions, what was told of both, and positions.
 */
export type SolverState = ReturnType<typeof openState>

const KEEP_QUOTE_SECONDS = 3_600
const KEEP_ORDER_SECONDS = 7 * 86_400
const KEEP_BOOKS_SECONDS = 400 * 86_400
/** Strangers can cause cancellations: so many of the newest are kept. */
const KEPT_CANCELLED = 100_000
export const VERSION = 9
/** An earlier process may be about to end. */
const LOCK_TIMEOUT_MS = 1_000
/** SQLite's name of a database without a file. */
export const MEMORY = ':memory:'
const PRIVATE = 0o600
const ORDERS = `
  CREATE TABLE orders (orderId TEXT PRIMARY KEY, chainId INTEGER NOT NULL, fillDeadline INTEGER NOT NULL,
    status TEXT NOT NULL, endedAt INTEGER, signed TEXT) STRICT, WITHOUT ROWID;
  CREATE INDEX ordersByStatus ON orders (chainId, status);
  CREATE INDEX ordersByEnd ON orders (chainId, endedAt);`
const BOOKS = `
  CREATE TABLE books (id TEXT PRIMARY KEY, chainId INTEGER NOT NULL, time INTEGER NOT NULL, kind TEXT NOT NULL,
    entry TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE INDEX booksByKind ON books (chainId, kind, time);`
const IS_NEW = `PRAGMA user_version = ${VERSION}`
/** A market maker could pay by itself: the kit does. */
const FROM_8 = `UPDATE orders SET status = 'OPEN' WHERE status = 'LEFT'; ${IS_NEW}`
/** It had quotes in a table of their own. */
const FROM_7 = `
  ALTER TABLE orders RENAME TO deposited;
  DROP INDEX ordersByStatus;
  ${ORDERS}
  INSERT INTO orders SELECT orderId, quotes.chainId, quotes.fillDeadline, coalesce(status, 'QUOTED'), endedAt,
    json_patch('{}', json_object('chainId', quotes.chainId, 'orderId', orderId, 'depositAddress', depositAddress,
      'signature', signature, 'isForAddress', quote -> 'isForAddress', 'quoteId', quote -> 'quoteId', 'quote',
      json_remove(json_set(quote, '$.orderType', iif(quote ->> 'orderType' = 0, 'EXACT_INPUT', 'EXACT_OUTPUT')),
        '$.isForAddress', '$.quoteId')))
    FROM quotes LEFT JOIN deposited USING (orderId);
  INSERT INTO orders SELECT orderId, chainId, fillDeadline, status, NULL, NULL FROM deposited
    WHERE orderId NOT IN (SELECT orderId FROM quotes);
  DROP TABLE quotes;
  DROP TABLE deposited;
  ${FROM_8}`
/** It had no books. What was paid lately is read and told again, since a reorganisation may still remove it. */
const FROM_6 = `${BOOKS}
  UPDATE orders SET status = 'OPEN' WHERE status = 'FILLED';
  ${FROM_7}`
const SCHEMA = `${ORDERS}
  ${BOOKS}
  CREATE TABLE attempts (payment TEXT NOT NULL, chainId INTEGER NOT NULL, hash TEXT NOT NULL, raw TEXT NOT NULL,
    nonce INTEGER NOT NULL, PRIMARY KEY (payment, hash)) STRICT;
  CREATE TABLE positions (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  ${IS_NEW}`
/** What makes a file of this version, by the version that it has. */
const SCRIPTS: Readonly<Record<number, string>> = { 0: SCHEMA, 6: FROM_6, 7: FROM_7, 8: FROM_8 }
const BIGINTS: readonly string[] = ['inputAmount', 'outputAmount', 'nonce', 'cost', 'gasUsed', 'gasCost']

type Value = string | number | object | null
type Row = Omit<StoredOrder, 'signed'> & { readonly signed: string | null }

/**
 * Opens the state, which one process at a time can have.
 * @param path a SQLite file, or `:memory:`
 * @throws Error when another process has the file, or it is of another version
 */
export function openState(path: string) {
  const { database, close } = openDatabase(path)
  /** Each is compiled once. */
  const statements = new Map<string, ReturnType<typeof database.prepare>>()
  function sql<T>(text: string) {
    const statement = statements.get(text) ?? database.prepare(text)
    statements.set(text, statement)
    return statement as ReturnType<typeof database.prepare<Value[], T>>
  }
  const run = (text: string, ...values: Value[]) => void sql(text).run(...values)
  const orders = (where: string, ...values: Value[]) =>
    sql<Row>(`SELECT * FROM orders WHERE ${where}`)
      .all(...values)
      .map(toOrder)
  const quotes = (where: string, ...values: Value[]) =>
    orders(where, ...values).flatMap(({ signed }) => signed ?? [])

  return {
    /** Keeps a quote before it is sent. The same price may be signed again. */
    addQuote: (signed: SolverQuote) =>
      run(
        `INSERT INTO orders VALUES (@orderId, @chainId, @fillDeadline, 'QUOTED', NULL, @text) ON CONFLICT DO NOTHING`,
        { ...signed, ...signed.quote, text: toText(signed) },
      ),
    /** Another one says all that counts. */
    dropQuote: (orderId: Hex) => run('DELETE FROM orders WHERE orderId = ?', orderId),
    /** The nonce of a quote is used, or is not used any more. @param time of the chain, Unix seconds; null for the latter */
    endQuote: (orderId: Hex, time: number | null) =>
      run('UPDATE orders SET endedAt = ? WHERE orderId = ?', time, orderId),
    /** The quotes of a chain that have not ended. */
    openQuotes: (chainId: number) => quotes('chainId = ? AND endedAt IS NULL', chainId),
    /** The quotes of a chain that have ended, the last one first. */
    endedQuotes: (chainId: number) =>
      quotes('chainId = ? AND endedAt IS NOT NULL ORDER BY endedAt DESC', chainId),
    /** How many quotes and orders have not ended, by chain. */
    countOpen: () =>
      sql<{ chainId: number; count: number }>(
        `SELECT chainId, count(*) AS count FROM orders WHERE status = 'OPEN' OR (signed IS NOT NULL AND endedAt IS NULL)
          GROUP BY chainId`,
      ).all(),
    /** Its deposit may be there. One that is known does not change. */
    addOrder: (added: Pick<StoredOrder, 'orderId' | 'chainId' | 'fillDeadline'>) =>
      run(
        `INSERT INTO orders VALUES (@orderId, @chainId, @fillDeadline, 'OPEN', NULL, NULL)
          ON CONFLICT DO UPDATE SET status = 'OPEN' WHERE status = 'QUOTED'`,
        added,
      ),
    order: (orderId: Hex) => orders('orderId = ?', orderId)[0],
    /** The orders of a chain that have a status, the nearest deadline first. */
    orders: (chainId: number, status: StoredOrder['status']) =>
      orders('chainId = ? AND status = ? ORDER BY fillDeadline', chainId, status),
    setStatus: (orderId: Hex, status: StoredOrder['status']) =>
      run('UPDATE orders SET status = ? WHERE orderId = ?', status, orderId),
    /**
     * What was signed for a payment, the newest last. All have the same nonce of the account.
     * @param payment an order id, or the name of another transaction, which has its chain
     */
    attempts: (payment: string) =>
      sql<SignedTransaction>('SELECT hash, raw, nonce FROM attempts WHERE payment = ? ORDER BY rowid').all(
        payment,
      ),
    /** Keeps an attempt before it is sent. */
    addAttempt: (payment: string, chainId: number, attempt: SignedTransaction) =>
      run('INSERT INTO attempts VALUES (@payment, @chainId, @hash, @raw, @nonce) ON CONFLICT DO NOTHING', {
        ...attempt,
        payment,
        chainId,
      }),
    clearAttempts: (payment: string) => run('DELETE FROM attempts WHERE payment = ?', payment),
    renamePayment: (payment: string, next: string) =>
      run('UPDATE attempts SET payment = ? WHERE payment = ?', next, payment),
    /** All payments of a chain that are kept, by nonce. SQLite takes the columns from the row that has the maximum. */
    keptPayments: (chainId: number) =>
      sql<KeptPayment>(
        `SELECT payment AS id, hash, raw, nonce, status, max(attempts.rowid) FROM attempts LEFT JOIN orders
          ON orderId = payment WHERE attempts.chainId = ? GROUP BY payment ORDER BY nonce`,
      ).all(chainId),
    bookEntry: (id: string) => sql<BookEntry>('SELECT * FROM books WHERE id = ?').get(id),
    setBookEntry: (entry: BookEntry) =>
      run('REPLACE INTO books VALUES (@id, @chainId, @time, @kind, @entry)', entry),
    dropBookEntry: (id: string) => run('DELETE FROM books WHERE id = ?', id),
    /** The missed orders and slashed quotes of a chain since that time that have cost something. */
    losses: (chainId: number, time: number): Loss[] =>
      sql<BookEntry & Loss>(
        `SELECT entry, signed ->> 'isForAddress' AS isForAddress FROM books LEFT JOIN orders ON orderId = id
          WHERE books.chainId = ? AND kind = 'MISSED' AND time > ? AND entry ->> 'cost' <> '0'`,
      )
        .all(chainId, time)
        .map(({ entry, isForAddress }) => ({ ...fromText<MissedOrder>(entry), isForAddress })),
    /** A position of a chain's blocks, or what has been learnt of it; undefined before the first one. */
    position: (name: string) =>
      sql<{ value: string }>('SELECT value FROM positions WHERE name = ?').get(name)?.value,
    setPosition: (name: string, value: string) => run('REPLACE INTO positions VALUES (?, ?)', name, value),
    /**
     * Forgets quotes of a chain an hour after their end, orders a week after their deadline, and the books after 400 days.
     * @param time of the chain, Unix seconds
     */
    prune(chainId: number, time: number): void {
      run(
        `DELETE FROM orders WHERE chainId = ? AND (signed IS NULL OR endedAt < ?)
          AND (status = 'QUOTED' OR (status <> 'OPEN' AND fillDeadline < ?))`,
        chainId,
        time - KEEP_QUOTE_SECONDS,
        time - KEEP_ORDER_SECONDS,
      )
      run(
        `DELETE FROM books WHERE chainId = ? AND kind <> 'DEPOSITED' AND time < ?`,
        chainId,
        time - KEEP_BOOKS_SECONDS,
      )
      run(
        `DELETE FROM books WHERE chainId = @chainId AND kind = 'CANCELLED' AND time < (SELECT time FROM books
          WHERE chainId = @chainId AND kind = 'CANCELLED' ORDER BY time DESC LIMIT 1 OFFSET ${KEPT_CANCELLED})`,
        { chainId },
      )
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
    const version = Number(database.pragma('user_version', { simple: true }))
    const script = SCRIPTS[version]
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

function toOrder({ signed, ...row }: Row): StoredOrder {
  return { ...row, signed: signed === null ? undefined : fromText<SolverQuote>(signed) }
}

/** A quote, or what was told, as the state keeps it. */
export function toText(value: object): string {
  return JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? String(member) : member))
}

/** What was written by `toText`. */
export function fromText<T>(text: string): T {
  return JSON.parse(text, (key, value) =>
    BIGINTS.includes(key) && typeof value === 'string' ? BigInt(value) : value,
  )
}
