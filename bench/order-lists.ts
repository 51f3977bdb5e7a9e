import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { ListedOrder } from '../src/domain/order.js'
import { type Database, openTables } from '../src/store/database.js'
import { changeOrders } from '../src/store/order-statements.js'
import { createConnectionPool } from '../src/store/postgres.js'
import { POSTGRES_TABLES } from '../src/store/postgres-tables.js'
import type { Schema } from '../src/store/schema.js'
import { openSqlite } from '../src/store/sqlite.js'
import { startChain, type TestChain } from '../test/support/chain/chain.js'
import type { Benchmark, Finding, Row } from './benchmark.js'
import { startBuiltService } from './built-service.js'
import { startDatabaseServer } from './database-server.js'
import { quantile } from './load.js'

const ORDERS = 1_000_000
const ORDERS_PER_STATEMENT = 500
const ORDERS_PER_TRANSACTION = 50_000
const ORDERS_PER_BLOCK = 10
const USERS = 1000
const SOLVERS = 20
/** One order in so many is not settled yet. */
const OPEN_SHARE = 1000
const PAGE_SIZE = 200
const WARM_UP = 20
const READS = 300
const MAX_P99_MS = 20

type Chain = Pick<TestChain, 'chainId' | 'devnet' | 'contracts'>

/** Lists of orders with each filter, on both databases. */
export const orderLists: Benchmark = {
  name: 'order-lists',
  about:
    `Pages of at most ${PAGE_SIZE} orders from a table of ${ORDERS.toLocaleString('en')}, one request at a time: the first page, and ` +
    'a page in the middle of the list, with each filter. The reference is the list of solvers, which is in memory.',
  async collectMetrics() {
    const chain = await startChain({ bonded: 0 })
    const folder = await mkdtemp(join(tmpdir(), 'bench-'))
    const server = await startDatabaseServer()
    try {
      const path = join(folder, 'service.db')
      const url = await server.createDatabase()
      // A chain begins without orders: the service would remove those that it finds then.
      const databases = { SQLite: { DB_PATH: path }, PostgreSQL: { DATABASE_URL: url } }
      for (const environment of Object.values(databases))
        await (await startBuiltService(chain, environment)).stop()
      await fill(await openSqlite(path), chain.chainId)
      const pool = createConnectionPool(url)
      await fill(await openTables<Schema>(pool.dialect(), POSTGRES_TABLES.main), chain.chainId)
      await pool.close()
      await vacuum(url)
      const parts = [
        await measureOn(chain, 'SQLite', databases.SQLite),
        await measureOn(chain, 'PostgreSQL', databases.PostgreSQL),
      ]
      return { rows: parts.flatMap(({ rows }) => rows), findings: parts.flatMap(({ findings }) => findings) }
    } finally {
      await server.stop()
      await chain.stop()
      await rm(folder, { recursive: true, force: true })
    }
  },
}

async function measureOn(chain: Chain, database: string, environment: Record<string, string>) {
  const service = await startBuiltService(chain, environment)
  const base = `${service.url}/v1/${chain.chainId}`
  const user = addressOf(USERS / 2)
  const solver = addressOf(USERS + SOLVERS / 2)
  /** With the number of orders that each finds. */
  const filters: [name: string, filter: string, matches: number][] = [
    ['no filter', '', ORDERS],
    ['user', `&user=${user}`, ORDERS / USERS],
    ['solver', `&solver=${solver}`, ORDERS / SOLVERS],
    ['state DEPOSITED', '&state=DEPOSITED', ORDERS / OPEN_SHARE],
    ['solver and state', `&solver=${solver}&state=SETTLED`, ORDERS / SOLVERS],
    ['user and solver', `&user=${user}&solver=${solver}`, ORDERS / USERS / SOLVERS],
  ]
  const rows: Row[] = []
  const findings: Finding[] = []
  const add = (read: string, latencies: readonly number[], isBound: boolean) => {
    const at = (part: number) => Math.round(quantile(latencies, part) * 10) / 10
    rows.push({ database, read, 'median ms': at(0.5), 'p99 ms': at(0.99), 'longest ms': at(1) })
    if (isBound)
      findings.push({
        name: `${database}, ${read}: p99, ms`,
        value: quantile(latencies, 0.99),
        atMost: MAX_P99_MS,
      })
  }
  try {
    add('list of solvers', await latenciesOf(`${base}/solvers`), false)
    for (const [name, filter, matches] of filters) {
      const pageSize = Math.min(PAGE_SIZE, matches / 2)
      const url = `${base}/orders?pageSize=${pageSize}${filter}`
      add(`${name}: first page`, await latenciesOf(url, pageSize), true)
      add(`${name}: page in the middle`, await latenciesOf(await middleOf(url), pageSize), true)
    }
  } finally {
    await service.stop()
  }
  return { rows, findings }
}

/** The URL of a page in the middle of a list. The token of a page names a block, in base 36. */
async function middleOf(url: string): Promise<string> {
  const { nextPageToken } = (await (await fetch(url)).json()) as { nextPageToken: string }
  const block = Math.floor(ORDERS / ORDERS_PER_BLOCK / 2).toString(36)
  return `${url}&pageToken=${nextPageToken.replace(/^[^-]+/, block)}`
}

/**
 * Each answer must be the first one again. To parse each would leave garbage in this process, whose collections take the cores
 * of the service.
 * @param orders the number of orders that an answer must have; undefined for an answer that is no list of orders
 */
export async function latenciesOf(url: string, orders?: number): Promise<number[]> {
  const latencies: number[] = []
  let expected: Buffer | undefined
  for (let read = 0; read < WARM_UP + READS; read++) {
    const start = performance.now()
    const response = await fetch(url)
    const answer = Buffer.from(await response.arrayBuffer())
    if (read >= WARM_UP) latencies.push(performance.now() - start)
    expected ??= answer
    if (!response.ok || !answer.equals(expected))
      throw new Error(`${url}: ${response.status}, another answer`)
  }
  const found = JSON.parse(String(expected)).orders?.length
  if (found !== orders) throw new Error(`${url}: ${found} orders`)
  return latencies
}

/** Does what PostgreSQL does in the background after many changes. */
async function vacuum(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('vacuum analyze orders')
  await client.end()
}

/** Fills the table of orders, and closes the database. */
async function fill(database: Database, chainId: number): Promise<void> {
  try {
    for (let start = 0; start < ORDERS; start += ORDERS_PER_TRANSACTION)
      await database.transaction().execute(async (transaction) => {
        for (let first = start; first < start + ORDERS_PER_TRANSACTION; first += ORDERS_PER_STATEMENT) {
          const numbers = Array.from({ length: ORDERS_PER_STATEMENT }, (_, index) => first + index)
          const orders = numbers.map((number) => orderOf(chainId, number))
          const added = new Map(orders.map((order) => [order.orderId, order]))
          await changeOrders(transaction, chainId, new Map(), added)
        }
      })
  } finally {
    await database.destroy()
  }
}

function orderOf(chainId: number, number: number): ListedOrder {
  const step = (block: number) => ({
    blockNumber: block,
    logIndex: number % ORDERS_PER_BLOCK,
    blockTime: 1_700_000_000 + block,
    transactionHash: hex(32, number),
  })
  const block = Math.floor(number / ORDERS_PER_BLOCK)
  const isOpen = number % OPEN_SHARE === 0
  return {
    chainId,
    // Like a hash, so that the index of ids grows at random places.
    orderId: hex(32, (number * 2_654_435_761) % 2 ** 32),
    state: isOpen ? 'DEPOSITED' : 'SETTLED',
    user: addressOf(number % USERS),
    solver: addressOf(USERS + (Math.floor(number / USERS) % SOLVERS)),
    terms: {
      inputToken: addressOf(1),
      inputAmount: 10n ** 18n,
      outputToken: addressOf(2),
      outputAmount: 10n ** 9n,
      outputChainId: chainId,
      fillDeadline: 1_800_000_000,
    },
    steps: { deposited: step(block), ...(!isOpen && { settled: step(block + 1) }) },
  }
}

const addressOf = (number: number) => hex(20, number)

function hex(bytes: number, value: number): `0x${string}` {
  return `0x${value.toString(16).padStart(2 * bytes, '0')}`
}
