import { type Kysely, type Migration, sql } from 'kysely'

/** The order of the counts of an hour. */
const COUNTS = ['orders', 'deposited', 'settled', 'refunded'] as const
const READ_ROWS = 5000
const WRITTEN_ROWS = 500
/** Most hours of solvers in memory. */
const MAX_HOURS = 20_000

type Step = [blockNumber: number, logIndex: number, transactionHash: string | null, blockTime: number | null]

interface OrderRow {
  readonly chain_id: number
  readonly order_id: string
  readonly solver: string | null
  readonly steps: string
}

interface HourRow {
  chain_id: number
  solver: string
  hour: number
  orders: number
  deposited: number
  settled: number
  refunded: number
}

interface Tables {
  orders: OrderRow
  solver_order_hours: HourRow
}

/** Creates the orders of solvers by hour, and counts the orders that exist. */
export const solverOrderHours: Migration = {
  async up(db) {
    await db.schema
      .createTable('solver_order_hours')
      .addColumn('chain_id', 'bigint', (column) => column.notNull())
      .addColumn('solver', 'text', (column) => column.notNull())
      .addColumn('hour', 'bigint', (column) => column.notNull())
      .addColumn('orders', 'bigint', (column) => column.notNull())
      .addColumn('deposited', 'bigint', (column) => column.notNull())
      .addColumn('settled', 'bigint', (column) => column.notNull())
      .addColumn('refunded', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('solver_order_hours_pk', ['chain_id', 'solver', 'hour'])
      .execute()
    await db.schema
      .createIndex('solver_order_hours_by_hour')
      .on('solver_order_hours')
      .columns(['chain_id', 'hour'])
      .execute()
    await countOrders(db)
  },
}

async function countOrders(db: Kysely<Tables>): Promise<void> {
  const hours = new Map<string, HourRow>()
  let last: OrderRow | undefined
  do {
    let page = db.selectFrom('orders').select(['chain_id', 'order_id', 'solver', 'steps'])
    if (last !== undefined) {
      const { chain_id, order_id } = last
      page = page.where(({ eb, refTuple, tuple }) =>
        eb(refTuple('chain_id', 'order_id'), '>', tuple(chain_id, order_id)),
      )
    }
    const rows = await page.orderBy('chain_id').orderBy('order_id').limit(READ_ROWS).execute()
    for (const row of rows) countOrder(row, hours)
    last = rows.at(-1)
    if (hours.size < MAX_HOURS && last !== undefined) continue
    await addHours(db, [...hours.values()])
    hours.clear()
  } while (last !== undefined)
}

function countOrder({ chain_id, solver, steps }: OrderRow, hours: Map<string, HourRow>): void {
  if (solver === null) return
  const read: (Step | null)[] = JSON.parse(steps)
  const first = read.find((step) => step !== null)
  for (const [index, step] of [first, ...read].entries()) {
    const [count, time] = [COUNTS[index], step?.[3]]
    if (count === undefined || time === undefined || time === null) continue
    const hour = Math.floor(time / 3600)
    const key = `${chain_id} ${solver} ${hour}`
    const none = { orders: 0, deposited: 0, settled: 0, refunded: 0 }
    const row = hours.get(key) ?? { chain_id, solver, hour, ...none }
    row[count]++
    hours.set(key, row)
  }
}

async function addHours(db: Kysely<Tables>, rows: readonly HourRow[]): Promise<void> {
  for (let start = 0; start < rows.length; start += WRITTEN_ROWS)
    await db
      .insertInto('solver_order_hours')
      .values(rows.slice(start, start + WRITTEN_ROWS))
      .onConflict((conflict) =>
        conflict
          .columns(['chain_id', 'solver', 'hour'])
          .doUpdateSet(
            Object.fromEntries(
              COUNTS.map((count) => [count, sql.raw(`solver_order_hours.${count} + excluded.${count}`)]),
            ),
          ),
      )
      .execute()
}
