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
  /** `FILLED` has been paid, `MISSED` not in time; `LEFT` belongs to the `fill` of the market maker. */
  readonly status: 'OPEN' | 'FILLED' | 'MISSED' | 'LEFT'
}

/** A quote whose nonce is not known to be used. */
export interface KeptQuote {
  readonly signed: SolverQuote
  readonly isForAddress: boolean
}

/** What must survive a restart: signed quotes, deposited orders and positions. */
export interface SolverState {
  /** Keeps a quote before it is sent. The same price may be signed again. */
  addQuote(signed: SolverQuote, isForAddress: boolean): void
  quote(orderId: Hex): SolverQuote | undefined
  /** The quotes of a chain that have not ended. */
  keptQuotes(chainId: number): KeptQuote[]
  /** The nonce of a quote is used. @param time of the chain, Unix seconds */
  endQuote(orderId: Hex, time: number): void
  /** A quote of a chain that has ended, and whose fill deadline is before that time. */
  endedQuote(chainId: number, time: number): SolverQuote | undefined
  /** Keeps an order. One that is known does not change. */
  addOrder(order: Pick<StoredOrder, 'chainId' | 'orderId' | 'fillDeadline'>): void
  order(orderId: Hex): StoredOrder | undefined
  openOrders(): StoredOrder[]
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
  /**
   * Forgets quotes of a chain an hour after their end, and orders a week after their deadline.
   * @param time of the chain, Unix seconds
   */
  prune(chainId: number, time: number): void
  close(): void
}

const KEEP_QUOTE_SECONDS = 3_600
const KEEP_ORDER_SECONDS = 7 * 86_400
const VERSION = 3
/** An earlier process may be about to end. */
const LOCK_TIMEOUT_MS = 1_000
const SCHEMA = `
  CREATE TABLE quotes (order_id TEXT PRIMARY KEY, chain_id INTEGER NOT NULL, deposit_address TEXT NOT NULL,
    fill_deadline INTEGER NOT NULL, quote TEXT NOT NULL, signature TEXT NOT NULL,
    is_for_address INTEGER NOT NULL, ended_at INTEGER) STRICT, WITHOUT ROWID;
  CREATE TABLE orders (order_id TEXT PRIMARY KEY, chain_id INTEGER NOT NULL, fill_deadline INTEGER NOT NULL,
    status TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE attempts (payment TEXT NOT NULL, chain_id INTEGER NOT NULL, hash TEXT NOT NULL, raw TEXT NOT NULL,
    nonce INTEGER NOT NULL, PRIMARY KEY (payment, hash)) STRICT;
  CREATE INDEX quotes_by_end ON quotes (chain_id, ended_at);
  CREATE INDEX orders_by_status ON orders (status);
  CREATE TABLE positions (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  PRAGMA user_version = ${VERSION}`

interface QuoteRow {
  readonly order_id: Hex
  readonly chain_id: number
  readonly deposit_address: Hex
  readonly quote: string
  readonly signature: Hex
  readonly is_for_address: 0 | 1
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
    addQuote: prepare('INSERT INTO quotes VALUES (?, ?, ?, ?, ?, ?, ?, NULL) ON CONFLICT DO NOTHING'),
    quote: prepare('SELECT * FROM quotes WHERE order_id = ?'),
    keptQuotes: prepare('SELECT * FROM quotes WHERE chain_id = ? AND ended_at IS NULL'),
    endQuote: prepare('UPDATE quotes SET ended_at = ? WHERE order_id = ?'),
    endedQuote: prepare(
      `SELECT * FROM quotes WHERE chain_id = ? AND ended_at IS NOT NULL AND fill_deadline < ?
        ORDER BY ended_at DESC LIMIT 1`,
    ),
    addOrder: prepare(`INSERT INTO orders VALUES (?, ?, ?, 'OPEN') ON CONFLICT DO NOTHING`),
    order: prepare('SELECT * FROM orders WHERE order_id = ?'),
    openOrders: prepare(`SELECT * FROM orders WHERE status = 'OPEN' ORDER BY fill_deadline`),
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
      'DELETE FROM quotes WHERE chain_id = ? AND ended_at < ? AND order_id NOT IN (SELECT order_id FROM orders)',
    ),
    pruneAttempts: prepare(
      `DELETE FROM attempts WHERE payment IN
        (SELECT order_id FROM orders WHERE chain_id = ? AND fill_deadline < ? AND status <> 'OPEN')`,
    ),
    pruneOrders: prepare(
      `DELETE FROM orders WHERE chain_id = ? AND fill_deadline < ? AND status <> 'OPEN'
        AND order_id NOT IN (SELECT order_id FROM quotes WHERE ended_at IS NULL)`,
    ),
  }
  return {
    addQuote({ chainId, orderId, depositAddress, quote, signature }, isForAddress) {
      const text = JSON.stringify(toWireQuote(quote))
      const { fillDeadline } = quote
      const flag = Number(isForAddress)
      statements.addQuote.run(orderId, chainId, depositAddress, fillDeadline, text, signature, flag)
    },
    quote(orderId) {
      const row = statements.quote.get(orderId)
      return row === undefined ? undefined : toQuote(row as QuoteRow)
    },
    keptQuotes: (chainId) =>
      (statements.keptQuotes.all(chainId) as QuoteRow[]).map((row) => ({
        signed: toQuote(row),
        isForAddress: row.is_for_address === 1,
      })),
    endQuote: (orderId, time) => void statements.endQuote.run(time, orderId),
    endedQuote(chainId, time) {
      const row = statements.endedQuote.get(chainId, time)
      return row === undefined ? undefined : toQuote(row as QuoteRow)
    },
    addOrder: ({ orderId, chainId, fillDeadline }) =>
      void statements.addOrder.run(orderId, chainId, fillDeadline),
    order(orderId) {
      const row = statements.order.get(orderId)
      return row === undefined ? undefined : toOrder(row as OrderRow)
    },
    openOrders: () => statements.openOrders.all().map((row) => toOrder(row as OrderRow)),
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
    prune(chainId, time) {
      statements.pruneAttempts.run(chainId, time - KEEP_ORDER_SECONDS)
      statements.pruneOrders.run(chainId, time - KEEP_ORDER_SECONDS)
      statements.pruneQuotes.run(chainId, time - KEEP_QUOTE_SECONDS)
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
