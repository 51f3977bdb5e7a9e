import { expect, test } from 'vitest'
import type { EventWithPosition } from '../../src/domain/block.js'
import type { ListedOrder, OrderSteps } from '../../src/domain/order.js'
import type { TableSet } from '../../src/store/database.js'
import { createEventStore } from '../../src/store/event-store.js'
import { orderRow } from '../../src/store/order-rows.js'
import { createSolverOrderStore } from '../../src/store/solver-order-store.js'
import { createRandom } from '../support/random.js'
import { NEW_DATABASES } from './databases.js'
import { header, newBlocks, SETTLEMENT } from './event-samples.js'

/** More than the migration reads at once. */
const ORDERS = 5100
const HOURS = 30

/** The tables of the version before the counts. */
function tablesBefore({ migrations, ...names }: TableSet): TableSet {
  const before = Object.entries(migrations).filter(([name]) => name < '012')
  return { ...names, migrations: Object.fromEntries(before) }
}

function orders(): ListedOrder[] {
  const random = createRandom(12)
  const step = () => ({
    blockNumber: 11,
    logIndex: 0,
    transactionHash: '0x7a' as const,
    blockTime: random.integer(0, 9) === 0 ? undefined : 1_700_000_000 + 3600 * random.integer(0, HOURS),
  })
  return Array.from({ length: ORDERS }, (_, index) => {
    const names = random.pick<(keyof OrderSteps)[]>([
      ['deposited'],
      ['deposited', 'settled'],
      ['deposited', 'refunded'],
      ['settled'],
      ['refunded'],
    ])
    return {
      chainId: 1 + (index % 2),
      orderId: `0x${index.toString(16).padStart(8, '0')}`,
      state: 'DEPOSITED',
      user: '0x0b',
      solver: random.integer(0, 9) === 0 ? undefined : random.pick(['0x0c', '0x0d']),
      terms: undefined,
      steps: Object.fromEntries(names.map((name) => [name, step()])),
    }
  })
}

/** An event for each step of an order. */
function eventsOf({ chainId, orderId, user, solver, steps }: ListedOrder): EventWithPosition[] {
  const amounts = { inputAmount: 1n, outputAmount: 1n, bondSlashed: 1n, fillDeadline: 1 }
  const terms = { ...amounts, inputToken: '0x1a', outputToken: '0x1b' } as const
  const types = { deposited: 'Deposited', settled: 'Settled', refunded: 'Refunded' } as const
  return Object.entries(steps).map(([name, step]) => ({
    event: { ...terms, ...step, type: types[name as keyof OrderSteps], chainId, orderId, user, solver },
    blockHash: header(11).hash,
  }))
}

test.each(NEW_DATABASES)(
  'the upgrade in %s counts existing orders as if their events came after it',
  async (_which, create) => {
    const [on, fresh] = [await create(), await create()]
    const existing = orders()
    const before = await on.open(tablesBefore(on.tables))
    for (let start = 0; start < ORDERS; start += 500)
      await before.database
        .insertInto('orders')
        .values(existing.slice(start, start + 500).map(orderRow))
        .execute()
    await before.close()

    const { database } = await fresh.open()
    const store = createEventStore(database, () => 0)
    for (const chainId of [1, 2]) {
      const token = await store.takeOver(chainId)
      await store.begin(token, SETTLEMENT, header(10))
      const events = existing.filter((order) => order.chainId === chainId).flatMap(eventsOf)
      await store.append(token, newBlocks(11, 11, events))
    }
    const migrated = createSolverOrderStore((await on.open()).database)
    const counted = createSolverOrderStore(database)
    for (const chainId of [1, 2]) {
      const hours = await migrated.readHours(chainId, 0)
      expect(hours.length).toBeGreaterThan(HOURS)
      expect(hours).toEqual(await counted.readHours(chainId, 0))
    }
  },
)
