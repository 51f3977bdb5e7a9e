import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import type { Address, Hex } from '../../../packages/protocol/src/values/hex.js'
import {
  createOfferNonceStore,
  OFFER_ROW_BYTES,
  type OfferNonce,
} from '../../../src/store/solvers/offer-nonce-store.js'
import { BOTH_DATABASES, inPostgres, type TestDatabase } from '../databases.js'

const SOLVER = '0x0a'
const OTHER = '0x0b'

/** Two processes over one database, in which a test adds and removes orders. */
async function openStore(on: TestDatabase, maxBytes?: number) {
  const { database } = await on.open()
  const store = createOfferNonceStore(database, maxBytes)
  const order = { chain_id: 1, block_number: 1, log_index: 0, state: 'DEPOSITED', user: '0x', steps: '[]' }
  return {
    ...store,
    database,
    used: async () => Object.fromEntries(await store.readUsed(1, 100)),
    addOrder: (orderId: Hex) =>
      database
        .insertInto('orders')
        .values({ ...order, order_id: orderId })
        .execute(),
    removeOrder: (orderId: Hex) => database.deleteFrom('orders').where('order_id', '=', orderId).execute(),
    /** The order ids that are stored. */
    left: async () =>
      (await database.selectFrom('offer_nonces').select('order_id').orderBy('order_id').execute()).map(
        ({ order_id }) => order_id,
      ),
  }
}

function offer(orderId: Hex | undefined, nonce: bigint, changes: Partial<OfferNonce> = {}): OfferNonce {
  return { chainId: 1, orderId, solver: SOLVER, nonce, until: 100, offeredAt: 1000, ...changes }
}

describe.each(BOTH_DATABASES)('the nonces of offers %s', (_where, kind) => {
  const create = kind()

  test('are used by an order of the offer, and no longer when a reorganisation has removed it', async () => {
    const { save, markOrders, readOrders, used, addOrder, removeOrder } = await openStore(await create())
    await save([offer('0x01', 1n), offer('0x02', 2n), offer('0x03', 1n, { solver: OTHER })])
    await addOrder('0x01')
    expect(await markOrders(1, ['0x01', '0x02', '0x04'])).toBe(true)
    expect(await readOrders(1, ['0x01', '0x02', '0x04'])).toEqual([
      { solver: SOLVER, nonce: 1n, isUsed: true },
      { solver: SOLVER, nonce: 2n, isUsed: false },
    ])
    expect(await used()).toEqual({ [SOLVER]: [1n] })
    expect(await markOrders(1, ['0x01'])).toBe(false)
    await removeOrder('0x01')
    expect(await markOrders(1, ['0x01'])).toBe(true)
    expect(await used()).toEqual({})
  })

  test('stay used when another offer with the same nonce, or a cancellation, has used it', async () => {
    const { save, markOrders, readOrders, addOrder } = await openStore(await create())
    await save([offer('0x01', 1n), offer('0x02', 1n), offer('0x03', 2n), offer(undefined, 2n)])
    await addOrder('0x01')
    await markOrders(1, ['0x01', '0x02', '0x03'])
    expect(await readOrders(1, ['0x02', '0x03'])).toEqual([
      { solver: SOLVER, nonce: 1n, isUsed: true },
      { solver: SOLVER, nonce: 2n, isUsed: true },
    ])
  })

  test('are read by solver, the newest of each, the oldest first, and older used ones are removed', async () => {
    const { save, readUsed, left } = await openStore(await create())
    const cancelled = [3n, 1n, 2n].map((nonce) => offer(undefined, nonce, { until: Number(nonce) }))
    await save([...cancelled, offer(undefined, 9n, { solver: OTHER }), offer('0x05', 4n)])
    expect(Object.fromEntries(await readUsed(1, 2))).toEqual({ [SOLVER]: [2n, 3n], [OTHER]: [9n] })
    expect(await left()).toEqual(['', '', '', '0x05'])
  })

  test('that are unused are removed after their time, and no used ones', async () => {
    const { save, markOrders, pruneSome, addOrder, left } = await openStore(await create())
    await save([
      ...[offer('0x01', 1n), offer('0x02', 2n), offer('0x03', 3n, { until: 101 })],
      ...[offer(undefined, 4n), offer('0x05', 5n, { chainId: 2 })],
    ])
    await addOrder('0x01')
    await markOrders(1, ['0x01'])
    expect(await pruneSome(1, 100)).toBe(false)
    expect(await left()).toHaveLength(5)
    expect(await pruneSome(1, 101)).toBe(false)
    expect(await left()).toEqual(['', '0x01', '0x03', '0x05'])
  })

  test('have a bound: the oldest go first, whatever their time, and used ones last', async () => {
    const { save, trim, left } = await openStore(await create(), 3 * OFFER_ROW_BYTES)
    expect(await trim()).toEqual({ bytes: 0, dropped: 0 })
    await save([
      ...[offer('0x05', 5n, { offeredAt: 1, until: 900 }), offer(undefined, 6n, { offeredAt: 0 })],
      ...[offer('0x02', 2n, { offeredAt: 3, until: 200 }), offer('0x03', 3n, { offeredAt: 2, until: 100 })],
    ])
    expect(await trim()).toEqual({ bytes: 3 * OFFER_ROW_BYTES, dropped: 1 })
    expect(await left()).toEqual(['', '0x02', '0x03'])
    await save([offer(undefined, 7n), offer(undefined, 8n), offer(undefined, 9n)])
    expect(await trim()).toEqual({ bytes: 3 * OFFER_ROW_BYTES, dropped: 3 })
    expect(await left()).toEqual(['', '', ''])
  })

  test('beyond the bound are removed in parts', async () => {
    const { save, trim, left } = await openStore(await create(), 10 * OFFER_ROW_BYTES)
    await save(Array.from({ length: 1011 }, (_, order) => offer(`0x${order}`, BigInt(order))))
    expect(await trim()).toEqual({ bytes: 10 * OFFER_ROW_BYTES, dropped: 1001 })
    expect(await left()).toHaveLength(10)
  })

  test('take no more bytes each than the bound counts, with the longest nonces', async () => {
    const { save, database } = await openStore(await create())
    const bytes = async () => {
      const { rows } = await (kind === inPostgres
        ? sql<{ bytes: number }>`select pg_total_relation_size('offer_nonces') as bytes`
        : sql<{
            bytes: number
          }>`select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()`
      ).execute(database)
      return rows[0]?.bytes ?? 0
    }
    const before = await bytes()
    const count = 5000
    const hash = (index: number): Hex => `0x${createHash('sha256').update(`${index}`).digest('hex')}`
    const solver: Address = `0x${'0a'.repeat(20)}`
    await save(
      Array.from({ length: count }, (_, index) => {
        const changes = { solver, until: 1_800_000_000, offeredAt: 1_800_000_000_000 + index }
        return offer(hash(index), 2n ** 256n - 1n - BigInt(index), changes)
      }),
    )
    expect(((await bytes()) - before) / count).toBeLessThan(OFFER_ROW_BYTES)
  })
})
