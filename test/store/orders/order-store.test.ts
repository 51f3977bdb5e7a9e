import { describe, expect, test } from 'vitest'
import type { EventWithPosition } from '../../../packages/protocol/src/orders/block.js'
import type { Deposited, OrderEvent } from '../../../packages/protocol/src/orders/event.js'
import type { KnownOrder, ListedOrder, OrderPosition } from '../../../packages/protocol/src/orders/order.js'
import type { Hex } from '../../../packages/protocol/src/values/hex.js'
import { createOrderStore } from '../../../src/store/orders/order-store.js'
import { BOTH_DATABASES, type TestDatabase } from '../databases.js'
import { header, newBlocks, openToRead, pruneAll, SETTLEMENT } from '../events/event-samples.js'

const TERMS = {
  inputToken: '0x1a',
  inputAmount: 2n ** 256n - 1n,
  outputToken: '0x1b',
  outputAmount: 1n,
  fillDeadline: 1_900_000_000,
} as const
const USER = '0x0b'
const SOLVER = '0x0c'

/** Where an event is on the chain. */
const at = (blockNumber: number, logIndex = 0) =>
  ({
    blockNumber,
    logIndex,
    transactionHash: `0x7a${blockNumber}`,
    blockTime: 1_700_000_000 + blockNumber,
  }) as const

function sourceOf(event: OrderEvent, order?: KnownOrder): EventWithPosition {
  return { event, blockHash: header(event.blockNumber).hash, ...(order && { order }) }
}

function base(orderId: Hex, position: ReturnType<typeof at>, chainId = 1) {
  return { chainId, orderId, user: USER, solver: SOLVER, ...position } as const
}

function deposited(orderId: Hex, position: ReturnType<typeof at>, changes: Partial<Deposited> = {}) {
  return sourceOf({ ...base(orderId, position), type: 'Deposited', ...TERMS, ...changes })
}

function settled(orderId: Hex, position: ReturnType<typeof at>, order?: KnownOrder, chainId = 1) {
  return sourceOf({ ...base(orderId, position, chainId), type: 'Settled' }, order)
}

const contractOrder = (orderId: Hex): KnownOrder => ({
  state: 'SETTLED',
  chainId: 1,
  orderId,
  user: USER,
  solver: SOLVER,
  ...TERMS,
  outputChainId: 1,
})

/** A store that leads chain 1 from block 10 on. */
async function prepare(on: TestDatabase) {
  const opened = await openToRead(on)
  const { store, one } = opened
  await store.begin(one, SETTLEMENT, header(10))
  const orders = createOrderStore(opened.database)
  const all = async (chainId = 1): Promise<readonly ListedOrder[]> =>
    (await orders.list(chainId, {}, undefined, 100)).orders
  return { ...opened, orders, all }
}

describe.each(BOTH_DATABASES)('the orders %s', (_where, kind) => {
  const create = kind()

  test('have the steps and the terms of their events', async () => {
    const { store, one, all } = await prepare(await create())
    await store.append(one, newBlocks(11, 12, [deposited('0x0a', at(11, 3)), settled('0x0a', at(12, 1))]))
    expect(await all()).toStrictEqual([
      {
        chainId: 1,
        orderId: '0x0a',
        state: 'SETTLED',
        user: USER,
        solver: SOLVER,
        terms: { ...TERMS, outputChainId: 1 },
        steps: { deposited: at(11, 3), settled: at(12, 1) },
      },
    ])
  })

  test('are sorted by the first event on the chain, also when a node has left it out at first', async () => {
    const { store, one, all } = await prepare(await create())
    const [early, late] = [settled('0x0a', at(12)), settled('0x0b', at(12, 1))]
    await store.append(one, newBlocks(11, 12, [early, late]))
    expect((await all()).map(({ orderId }) => orderId)).toEqual(['0x0b', '0x0a'])
    await store.appendMissing(one, [deposited('0x0b', at(11))])
    expect((await all()).map(({ orderId, state }) => [orderId, state])).toEqual([
      ['0x0a', 'SETTLED'],
      ['0x0b', 'SETTLED'],
    ])
  })

  test('at one position come each once, page by page', async () => {
    const { store, one, orders } = await prepare(await create())
    const [early, middle, late] = [settled('0x0a', at(12)), settled('0x0b', at(12)), settled('0x0c', at(12))]
    await store.append(one, newBlocks(11, 12, [middle, late]))
    // Another node counts the logs of the block from another number on.
    await store.appendMissing(one, [early])
    const found: string[] = []
    for (let after: OrderPosition | undefined, pages = 0; pages < 3; pages++) {
      const page = await orders.list(1, { user: USER }, after, 1)
      found.push(...page.orders.map(({ orderId }) => orderId))
      after = page.next
    }
    expect(found).toEqual(['0x0c', '0x0b', '0x0a'])
    const [first] = await store.ordersWithoutTerms(1, undefined, 1)
    const rest = await store.ordersWithoutTerms(1, first, 10)
    expect([first, ...rest].map((order) => order?.orderId)).toEqual(found)
  })

  test('are found by each combination of user, solver and state', async () => {
    const { store, one, orders } = await prepare(await create())
    const users = [USER, '0x1b'] as const
    const solvers = [SOLVER, '0x1c'] as const
    const parties = users.flatMap((user) => solvers.map((solver) => ({ user, solver })))
    const all = (['DEPOSITED', 'SETTLED'] as const).flatMap((state) =>
      parties.map((party, index) => ({ ...party, state, orderId: `0x${state.length}${index}` as const })),
    )
    const events = all.flatMap(({ user, solver, state, orderId }, index) => [
      deposited(orderId, at(11, index), { user, solver }),
      ...(state === 'SETTLED'
        ? [sourceOf({ ...base(orderId, at(12, index)), user, solver, type: 'Settled' })]
        : []),
    ])
    await store.append(one, newBlocks(11, 12, events))
    for (const user of [undefined, ...users])
      for (const solver of [undefined, ...solvers])
        for (const state of [undefined, 'DEPOSITED', 'SETTLED'] as const) {
          const isWanted = (order: (typeof all)[number]) =>
            [user ?? order.user, solver ?? order.solver, state ?? order.state].join() ===
            [order.user, order.solver, order.state].join()
          const page = await orders.list(1, { user, solver, state }, undefined, 100)
          const found = page.orders.map(({ orderId }) => orderId).sort()
          expect(found).toEqual(
            all
              .filter(isWanted)
              .map(({ orderId }) => orderId)
              .sort(),
          )
        }
  })

  test('stay when their events leave the log', async () => {
    const { store, one, all } = await prepare(await create())
    await store.append(one, newBlocks(11, 11, [deposited('0x0a', at(11)), deposited('0x0b', at(11, 1))]))
    await pruneAll(store, Number.MAX_SAFE_INTEGER)
    await store.append(one, newBlocks(12, 12, [settled('0x0a', at(12))]))
    expect((await all()).map(({ orderId, state }) => [orderId, state])).toEqual([
      ['0x0b', 'DEPOSITED'],
      ['0x0a', 'SETTLED'],
    ])
  })

  test('of another settlement contract leave the list, and those of other chains stay', async () => {
    const { store, one, two, all } = await prepare(await create())
    await store.begin(two, SETTLEMENT, header(10))
    await store.append(one, newBlocks(11, 11, [deposited('0x0a', at(11))]))
    await store.append(two, newBlocks(11, 11, [settled('0x0a', at(11), undefined, 2)]))
    await store.begin(one, '0x5e771f', header(11))
    expect([await all(1), (await all(2)).length]).toEqual([[], 1])
  })

  test('without `Deposited` event have the terms of the contract, at once or later', async () => {
    const { store, one, all } = await prepare(await create())
    const events = [settled('0x0a', at(11), contractOrder('0x0a')), settled('0x0b', at(11, 1))]
    await store.append(one, newBlocks(11, 11, events))
    expect(await store.knownSolvers(1, ['0x0a', '0x0b', '0x0c'])).toEqual(new Map([['0x0a', SOLVER]]))
    const incomplete = await store.ordersWithoutTerms(1, undefined, 10)
    expect(incomplete).toEqual([{ orderId: '0x0b', blockNumber: 11, logIndex: 1 }])
    expect(await store.ordersWithoutTerms(1, incomplete[0], 10)).toEqual([])
    await store.completeOrders(one, [contractOrder('0x0b'), contractOrder('0x0d')])
    const terms = { ...TERMS, outputChainId: 1 }
    expect((await all()).map((order) => [order.orderId, order.terms])).toEqual([
      ['0x0b', terms],
      ['0x0a', terms],
    ])
  })

  test('more than fit into one statement are removed', async () => {
    const { store, one, all } = await prepare(await create())
    const many = Array.from({ length: 1201 }, (_, index) => deposited(`0x${index}`, at(11, index)))
    await store.append(one, newBlocks(11, 11, many))
    expect(await all()).toHaveLength(100)
    await store.revert(one, header(10))
    expect(await all()).toEqual([])
  })
})
