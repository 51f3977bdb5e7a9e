import { describe, expect, test } from 'vitest'
import type { BlockHeader, EventWithPosition } from '../../../packages/protocol/src/orders/block.js'
import type { OrderEvent } from '../../../packages/protocol/src/orders/event.js'
import type { ListedOrder } from '../../../packages/protocol/src/orders/order.js'
import type { Address, Hex } from '../../../packages/protocol/src/values/hex.js'
import { createOrderStore } from '../../../src/store/orders/order-store.js'
import { createSolverOrderStore, type SolverOrderHour } from '../../../src/store/orders/solver-order-store.js'
import { createRandom, type Random } from '../../support/random.js'
import { rounds } from '../../support/rounds.js'
import { BOTH_DATABASES, type TestDatabase } from '../databases.js'
import { header, newBlocks, openToRead, SETTLEMENT } from '../events/event-samples.js'

const USER = '0x0b'
const SOLVERS = ['0x0c', '0x0d'] as const
const TERMS = { inputToken: '0x1a', inputAmount: 5n, outputToken: '0x1b', outputAmount: 6n } as const
const HOUR = 3600
const RUNS = rounds(8, 3)
const MOVES = 40

type EventType = OrderEvent['type']

/** A block of ten minutes after its parent. */
const timeOf = (blockNumber: number) => 1_700_000_000 + 600 * blockNumber

function eventOf(
  type: EventType,
  number: number,
  blockNumber: number,
  changes: Partial<OrderEvent> = {},
): EventWithPosition {
  const base = {
    chainId: 1,
    orderId: `0x${number.toString(16).padStart(4, '0')}` as Hex,
    user: USER,
    solver: SOLVERS[number % 2] as Address,
    blockNumber,
    logIndex: number,
    transactionHash: `0x7a${number}`,
    blockTime: timeOf(blockNumber),
    fillDeadline: 1_900_000_000,
    bondSlashed: 1n,
    ...TERMS,
  } as const
  return { event: { ...base, type, ...changes } as OrderEvent, blockHash: header(blockNumber).hash }
}

async function prepare(on: TestDatabase) {
  const opened = await openToRead(on)
  const { database, store, one } = opened
  await store.begin(one, SETTLEMENT, header(10))
  const orders = createOrderStore(database)
  const solverOrders = createSolverOrderStore(database)
  return {
    ...opened,
    solverOrders,
    list: async () => (await orders.list(1, {}, undefined, 10_000)).orders,
    hours: () => solverOrders.readHours(1, 0),
  }
}

type Prepared = Awaited<ReturnType<typeof prepare>>

describe.each(BOTH_DATABASES)('the hours of orders %s', (_where, kind) => {
  const create = kind()

  test('are read from an hour on, of one solver or of all', async () => {
    const { store, one, solverOrders } = await prepare(await create())
    const events = [eventOf('Deposited', 2, 11), eventOf('Deposited', 3, 18), eventOf('Deposited', 4, 18)]
    await store.append(one, newBlocks(11, 18, events))
    const since = Math.floor(timeOf(18) / HOUR)
    const solversOf = (hours: readonly SolverOrderHour[]) => hours.map(({ solver, hour }) => [solver, hour])
    expect(solversOf(await solverOrders.readHours(1, since))).toEqual(SOLVERS.map((own) => [own, since]))
    expect(solversOf(await solverOrders.readHours(1, since, SOLVERS[1]))).toEqual([[SOLVERS[1], since]])
    expect([await solverOrders.readHours(1, since + 1), await solverOrders.readHours(2, 0)]).toEqual([[], []])
  })

  test('before one are removed in parts', async () => {
    const { store, one, solverOrders, hours } = await prepare(await create())
    const old = Array.from({ length: 1100 }, (_, index) =>
      eventOf('Settled', index, 11, { blockTime: timeOf(0) - HOUR * (index + 1) }),
    )
    await store.append(
      one,
      newBlocks(11, 12, [...old, eventOf('Settled', 2000, 12, { blockTime: timeOf(0) })]),
    )
    expect(await hours()).toHaveLength(1101)
    const prune = async (beforeHour: number) => {
      let parts = 1
      while (await solverOrders.pruneSomeHours(beforeHour)) parts++
      return parts
    }
    const newest = Math.floor(timeOf(0) / HOUR)
    expect([await prune(newest - 25), (await hours()).length]).toEqual([3, 26])
    expect([await prune(newest), (await hours()).length]).toEqual([1, 1])
  })

  test.each(Array.from({ length: RUNS }, (_, run) => [run + 1]))(
    'are what the list of orders says, which has the steps on the chain, after any history (seed %i)',
    async (seed) => {
      const random = createRandom(seed)
      const prepared = await prepare(await create())
      const history = createHistory(prepared, random)
      for (let move = 0; move < MOVES; move++) {
        const name = await history.move()
        const orders = await prepared.list()
        expect(stepsOf(orders), `after move ${move}, ${name}`).toEqual(history.steps())
        expect(await prepared.hours(), `after move ${move}, ${name}`).toEqual(countOrders(orders))
      }
    },
  )
})

const stepsOf = (orders: readonly ListedOrder[]) =>
  orders.flatMap(({ orderId, steps }) => Object.keys(steps).map((step) => `${orderId} ${step}`)).sort()

/** The hourly counts of orders, sorted by solver and hour. */
function countOrders(orders: readonly ListedOrder[]): SolverOrderHour[] {
  const counted = new Map<string, SolverOrderHour>()
  for (const { solver, steps } of orders) {
    if (solver === undefined) continue
    const { deposited, settled, refunded } = steps
    const columns = { orders: deposited ?? settled ?? refunded, deposited, settled, refunded }
    for (const [column, step] of Object.entries(columns)) {
      if (step?.blockTime === undefined) continue
      const hour = Math.floor(step.blockTime / HOUR)
      const none = { solver, hour, orders: 0, deposited: 0, settled: 0, refunded: 0 }
      const row = counted.get(`${solver} ${hour}`) ?? none
      counted.set(`${solver} ${hour}`, { ...row, [column]: row[column as 'orders'] + 1 })
    }
  }
  return [...counted].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row)
}

/** Random moves of a chain with few orders, so that each order has several steps and loses some again. */
function createHistory({ store, one, list }: Prepared, random: Random) {
  let head = 10
  /** Of the events on the chain. */
  let onChain: EventWithPosition[] = []

  /** Events that the chain does not have yet; some without a solver. */
  function newEvents(from: number, to: number): EventWithPosition[] {
    const events: EventWithPosition[] = []
    for (let block = from; block <= to; block++)
      for (let count = random.integer(0, 4); count > 0; count--) {
        const type = random.pick<EventType>(['Deposited', 'Settled', 'Refunded'])
        const changes = {
          ...(type !== 'Deposited' && random.integer(0, 1) === 0 && { solver: undefined }),
        }
        const source = eventOf(type, random.integer(0, 15), block, changes)
        const isSame = ({ event }: EventWithPosition) =>
          event.orderId === source.event.orderId && event.type === type
        if (!onChain.some(isSame) && !events.some(isSame)) events.push(source)
      }
    onChain = onChain.concat(events)
    return events
  }

  async function grow(): Promise<void> {
    const from = head + 1
    head += random.integer(1, 8)
    await store.append(one, newBlocks(from, head, newEvents(from, head)))
  }

  async function reorganise(): Promise<void> {
    head = Math.max(10, head - random.integer(1, 12))
    onChain = onChain.filter(({ event }) => event.blockNumber <= head)
    await store.revert(one, header(head))
  }

  async function addMissing(): Promise<void> {
    await store.appendMissing(one, newEvents(Math.max(11, head - 3), head))
  }

  async function completeOrders(): Promise<void> {
    const orders = (await list()).filter(({ terms }) => terms === undefined).slice(0, random.integer(1, 5))
    if (orders.length === 0) return
    const known = orders.map(({ orderId, user, solver, state }) => ({
      ...TERMS,
      chainId: 1,
      orderId,
      user,
      solver: solver ?? (SOLVERS[Number(orderId) % 2] as Address),
      state,
      outputChainId: 1,
      fillDeadline: 1_900_000_000,
    }))
    await store.completeOrders(one, known)
  }

  async function beginAgain(): Promise<void> {
    if (random.integer(0, 3) > 0) return
    onChain = []
    const start: BlockHeader = header(head)
    await store.begin(one, SETTLEMENT, start)
  }

  const moves = [grow, reorganise, addMissing, completeOrders, beginAgain] as const
  return {
    /** The orders with the steps that they have on the chain. */
    steps: () => onChain.map(({ event }) => `${event.orderId} ${event.type.toLowerCase()}`).sort(),
    /** @returns the name of the move */
    async move(): Promise<string> {
      const next = random.pick([grow, grow, ...moves])
      await next()
      return next.name
    },
  }
}
