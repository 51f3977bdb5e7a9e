import Database from 'better-sqlite3'
import type { Hex } from 'viem'
import type { SignedTransaction } from './chain/transactions.js'
import type { SolverQuote } from './fillable-order.js'
import { fromWireQuote, toWireQuote } from './session/wire-quote.js'

/** An order that was deposited, as far as the solver has come with it. */
export interface StoredOrder {
  readonly chainId: number
  readonly orderId: Hex
  /** Unix time in seconds. */
  readonly fillDeadline: number
  /**
   * `FILLED` has been paid, `MISSED` not in time; `LEFT` belongs to the `fill` of the market maker. `CANCELLING` and `CANCELLED` are
   * quotes without a deposit, whose nonce the solver uses up.
   */
  readonly status: 'OPEN' | 'FILLED' | 'MISSED' | 'LEFT' | 'CANCELLING' | 'CANCELLED'
}

/** What must survive a restart: signed quotes, deposited orders and positions. */
export interface SolverState {
  /** Keeps a quote before it is sent. */
  addQuote(signed: SolverQuote): void
  quote(orderId: Hex): SolverQuote | undefined
  /** The quotes that may still be deposited, and are not yet paid. @param now Unix time in seconds */
  openQuotes(now: number): SolverQuote[]
  /** Keeps an order. One that is known does not change. */
  addOrder(order: Pick<StoredOrder, 'chainId' | 'orderId' | 'fillDeadline'>): void
  order(orderId: Hex): StoredOrder | undefined
  openOrders(): StoredOrder[]
  cancellingOrders(): StoredOrder[]
  setStatus(orderId: Hex, status: StoredOrder['status']): void
  /**
   * What was signed for a payment, the newest last. All have the same nonce of the account.
   * @param payment an order id, or the name of another transaction, which has its chain
   */
  attempts(payment: string): SignedTransaction[]
  /** Keeps an attempt before it is sent. */
  addAttempt(payment: string, chainId: number, transaction: SignedTransaction): void
  clearAttempts(payment: string): void
  renamePayment(payment: string, next: string): void
  /** The last attempts of payments whose end has not been seen, by nonce. */
  waitingPayments(chainId: number): { readonly id: string; readonly transaction: SignedTransaction }[]
  /** A position in an instance's events, or of a chain's blocks; undefined before the first one. */
  position(name: string): string | undefined
  setPosition(name: string, value: string): void
  /** Forgets quotes that were not taken an hour after their deadline, and orders after a week. @param now Unix time in seconds */
  prune(now: number): void
  close(): void
}

const KEEP_QUOTE_SECONDS = 3_600
const KEEP_ORDER_SECONDS = 7 * 86_400
const VERSION = 2
/** An earlier process may be about to end. */
const LOCK_TIMEOUT_MS = 1_000
const SCHEMA = `
  CREATE TABLE quotes (order_id TEXT PRIMARY KEY, chain_id INTEGER NOT NULL, deposit_address TEXT NOT NULL,
    fill_deadline INTEGER NOT NULL, quote TEXT NOT NULL, signature TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE orders (order_id TEXT PRIMARY KEY, chain_id INTEGER NOT NULL, fill_deadline INTEGER NOT NULL,
    status TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE attempts (payment TEXT NOT NULL, chain_id INTEGER NOT NULL, hash TEXT NOT NULL, raw TEXT NOT NULL,
    nonce INTEGER NOT NULL, PRIMARY KEY (payment, hash)) STRICT;
  CREATE INDEX quotes_by_deadline ON quotes (fill_deadline);
  CREATE INDEX orders_by_status ON orders (status);
  CREATE TABLE positions (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  PRAGMA user_version = ${VERSION}`

interface QuoteRow {
  readonly order_id: Hex
  readonly chain_id: number
  readonly deposit_address: Hex
  readonly quote: string
  readonly signature: Hex
}

interface AttemptRow extends SignedTransaction {
  readonly payment: string
}

interface OrderRow {
  readonly order_id: Hex
  readonly chain_id: number
  readonly fill_deadline: number
  readonly status: StoredOrder['status']
}

/**
 * Opens the state, which one process at a time can have.
 * @param path a SQLite file, or `:memory:`
 * @throws Error when another process has the file, or it is of a later version
 */
export function openState(path: string): SolverState {
  const database = openDatabase(path)
  const prepare = (sql: string) => database.prepare(sql)
  const statements = {
    addQuote: prepare('INSERT INTO quotes VALUES (?, ?, ?, ?, ?, ?)'),
    quote: prepare('SELECT * FROM quotes WHERE order_id = ?'),
    openQuotes: prepare(
      `SELECT * FROM quotes WHERE fill_deadline >= ? AND order_id NOT IN
        (SELECT order_id FROM orders WHERE status <> 'OPEN')`,
    ),
    addOrder: prepare(`INSERT INTO orders VALUES (?, ?, ?, 'OPEN') ON CONFLICT DO NOTHING`),
    order: prepare('SELECT * FROM orders WHERE order_id = ?'),
    openOrders: prepare(`SELECT * FROM orders WHERE status = 'OPEN' ORDER BY fill_deadline`),
    cancellingOrders: prepare(`SELECT * FROM orders WHERE status = 'CANCELLING'`),
    setStatus: prepare('UPDATE orders SET status = ? WHERE order_id = ?'),
    attempts: prepare('SELECT hash, raw, nonce FROM attempts WHERE payment = ? ORDER BY rowid'),
    addAttempt: prepare('INSERT INTO attempts VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING'),
    clearAttempts: prepare('DELETE FROM attempts WHERE payment = ?'),
    renamePayment: prepare('UPDATE attempts SET payment = ? WHERE payment = ?'),
    // SQLite takes the other columns from the row that has the maximum.
    waitingPayments: prepare(
      `SELECT payment, hash, raw, nonce, max(rowid) FROM attempts WHERE chain_id = ? AND payment NOT IN
        (SELECT order_id FROM orders WHERE status <> 'OPEN') GROUP BY payment ORDER BY nonce`,
    ),
    position: prepare('SELECT value FROM positions WHERE name = ?'),
    setPosition: prepare(
      'INSERT INTO positions VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    ),
    pruneQuotes: prepare(
      'DELETE FROM quotes WHERE fill_deadline < ? AND order_id NOT IN (SELECT order_id FROM orders)',
    ),
    pruneAttempts: prepare(
      `DELETE FROM attempts WHERE payment IN
        (SELECT order_id FROM orders WHERE fill_deadline < ? AND status <> 'OPEN')`,
    ),
    pruneOrders: prepare(`DELETE FROM orders WHERE fill_deadline < ? AND status <> 'OPEN'`),
  }
  return {
    addQuote({ chainId, orderId, depositAddress, quote, signature }) {
      const text = JSON.stringify(toWireQuote(quote))
      statements.addQuote.run(orderId, chainId, depositAddress, quote.fillDeadline, text, signature)
    },
    quote(orderId) {
      const row = statements.quote.get(orderId)
      return row === undefined ? undefined : toQuote(row as QuoteRow)
    },
    openQuotes: (now) => statements.openQuotes.all(now).map((row) => toQuote(row as QuoteRow)),
    addOrder: ({ orderId, chainId, fillDeadline }) =>
      void statements.addOrder.run(orderId, chainId, fillDeadline),
    order(orderId) {
      const row = statements.order.get(orderId)
      return row === undefined ? undefined : toOrder(row as OrderRow)
    },
    openOrders: () => statements.openOrders.all().map((row) => toOrder(row as OrderRow)),
    cancellingOrders: () => statements.cancellingOrders.all().map((row) => toOrder(row as OrderRow)),
    setStatus: (orderId, status) => void statements.setStatus.run(status, orderId),
    attempts: (payment) => statements.attempts.all(payment) as SignedTransaction[],
    addAttempt: (payment, chainId, { hash, raw, nonce }) =>
      void statements.addAttempt.run(payment, chainId, hash, raw, nonce),
    clearAttempts: (payment) => void statements.clearAttempts.run(payment),
    renamePayment: (payment, next) => void statements.renamePayment.run(next, payment),
    waitingPayments: (chainId) =>
      (statements.waitingPayments.all(chainId) as AttemptRow[]).map(({ payment, hash, raw, nonce }) => ({
        id: payment,
        transaction: { hash, raw, nonce },
      })),
    position: (name) => (statements.position.get(name) as { value: string } | undefined)?.value,
    setPosition: (name, value) => void statements.setPosition.run(name, value),
    prune(now) {
      statements.pruneAttempts.run(now - KEEP_ORDER_SECONDS)
      statements.pruneOrders.run(now - KEEP_ORDER_SECONDS)
      statements.pruneQuotes.run(now - KEEP_QUOTE_SECONDS)
    },
    close: () => void database.close(),
  }
}

function openDatabase(path: string): Database.Database {
  let opened: Database.Database | undefined
  try {
    const database = new Database(path, { timeout: LOCK_TIMEOUT_MS })
    opened = database
    // Two processes with one state would pay for an order twice. A process that is killed releases the lock.
    database.pragma('locking_mode = EXCLUSIVE')
    database.pragma('journal_mode = WAL')
    database.pragma('synchronous = NORMAL')
    const version = database.pragma('user_version', { simple: true })
    if (version === 0) database.transaction(() => database.exec(SCHEMA))()
    else if (version !== VERSION) throw new Error(`it is of version ${version}, and not ${VERSION}`)
    return database
  } catch (error) {
    opened?.close()
    const { code, message } = error as { code?: string; message: string }
    const why = code === 'SQLITE_BUSY' ? 'another process has it' : message
    throw new Error(`stateFile ${path} cannot be opened: ${why}`, { cause: error })
  }
}

function toQuote(row: QuoteRow): SolverQuote {
  return {
    chainId: row.chain_id,
    orderId: row.order_id,
    depositAddress: row.deposit_address,
    quote: fromWireQuote(JSON.parse(row.quote)),
    signature: row.signature,
  }
}

function toOrder(row: OrderRow): StoredOrder {
  return {
    chainId: row.chain_id,
    orderId: row.order_id,
    fillDeadline: row.fill_deadline,
    status: row.status,
  }
}
