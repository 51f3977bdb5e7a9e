import { describe, expect, it, onTestFinished } from 'vitest'
import { createSolverOrderStore, type SolverOrderHour } from '../../../src/store/orders/solver-order-store.js'
import { postgresAt, sqliteAt } from '../../store/databases.js'
import type { TestChain } from '../../support/chain/chain.js'
import { expectedOrders, type OrderMessage } from '../../support/chain/chain-orders.js'
import { countOrders } from '../../support/chain/count-orders.js'
import { createTraffic, type Traffic } from '../../support/chain/event-traffic.js'
import { listOrders } from '../../support/clients/list-orders.js'
import { databases } from '../../support/databases/service-databases.js'
import { eventually } from '../../support/eventually.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { createRandom, type Random } from '../../support/random.js'
import { environmentForAll } from '../../support/service/event-service.js'
import { startService, type TestService } from '../../support/service/service.js'

const RUNS = 6
const MOVES = 14
/** Older blocks are read in ranges. */
const MAX_REORG_DEPTH = 8

const instances: [kind: string, makeDatabase: (typeof databases)[number][1], replicas: number][] =
  databases.map(([kind, make]) => [kind, make, kind === 'SQLite' ? 1 : 3])

describe.each(instances)('on %s', (_kind, makeDatabase, replicas) => {
  it.each(Array.from({ length: RUNS }, (_, run) => [run + 1]))(
    'the list of orders is what a new read of the chain gives, after any history (seed %i)',
    { timeout: 120_000 },
    async (seed) => {
      const random = createRandom(seed)
      const chain = await startModelChain({ bonded: 0 })
      onTestFinished(() => chain.stop())
      const traffic = await createTraffic(chain, { seed })
      const { environment, drop } = await makeDatabase()
      onTestFinished(drop)
      const fleet = createFleet(chain, random, replicas, environment)
      const hoursOf = openHours(environment)
      onTestFinished(fleet.close)
      // More than any reorganisation drops, so that the solvers stay registered.
      await traffic.run({ events: 20, blocks: MAX_REORG_DEPTH })
      await fleet.start()
      for (let move = 0; move < MOVES; move++) {
        await makeMove(traffic, fleet, random)
        const orders = await fleet.expectOrdersOfChain((await traffic.head()).number)
        expect(await hoursOf(chain.chainId)).toEqual(countOrders(orders))
      }
    },
  )
})

/** Reads the hourly counts of solvers in the database of the services. */
function openHours({ DB_PATH, DATABASE_URL }: Record<string, string>) {
  const opening = (DB_PATH === undefined ? postgresAt(`${DATABASE_URL}`) : sqliteAt(DB_PATH)).open()
  return async (chainId: number): Promise<readonly SolverOrderHour[]> =>
    createSolverOrderStore((await opening).database).readHours(chainId, 0)
}

async function makeMove(traffic: Traffic, fleet: Fleet, random: Random): Promise<void> {
  const grow = (blocks: number) => traffic.run({ events: random.integer(1, 3 * blocks), blocks })
  const reorganise = (depth: number) =>
    traffic.reorganiseAtRandom({
      depth,
      events: random.integer(0, 2 * depth),
      longerBy: random.integer(0, 1),
    })
  const moves: [() => Promise<unknown>, ...(() => Promise<unknown>)[]] = [
    () => grow(random.integer(1, 5)),
    () => grow(random.integer(1, 5)),
    () => reorganise(random.integer(1, 6)),
    () => reorganise(random.integer(1, 6)),
    // Up to the old head again: on a shorter chain, published events may have fewer confirmations.
    () => {
      traffic.rollBack(random.integer(1, 4))
      return grow(4)
    },
    () => fleet.restart(() => grow(random.integer(1, 3))),
    () => fleet.restart(() => reorganise(random.integer(1, 6))),
    // A backfill, whose ranges begin after the last known block.
    () => fleet.restart(() => grow(3 * MAX_REORG_DEPTH)),
    () => fleet.replaceLeader(() => reorganise(random.integer(1, 6))),
  ]
  await random.pick(moves)()
}

type Fleet = ReturnType<typeof createFleet>

/** One service, or several replicas, on a database that stays. */
function createFleet(chain: TestChain, random: Random, replicas: number, database: Record<string, string>) {
  const confirmations = random.integer(0, 2)
  const environment = {
    ...environmentForAll([chain]),
    ...database,
    [`START_BLOCK_${chain.chainId}`]: '0',
    [`CONFIRMATIONS_${chain.chainId}`]: String(confirmations),
    MAX_REORG_DEPTH: String(MAX_REORG_DEPTH),
    RATE_LIMIT_ORDER: '100000',
  }
  let services: TestService[] = []

  async function start(): Promise<void> {
    while (services.length < replicas) services.push(await startService(chain, environment))
  }
  async function close(): Promise<void> {
    await Promise.all(services.splice(0).map((service) => service.close()))
  }

  return {
    start,
    close,
    async restart(whileDown: () => Promise<unknown>): Promise<void> {
      await close()
      await whileDown()
      await start()
    },
    /** The first replica leaves while something happens, and another one takes the chain over. */
    async replaceLeader(meanwhile: () => Promise<unknown>): Promise<void> {
      const [leader, ...others] = services
      services = others
      await Promise.all([leader?.close(), meanwhile()])
      await start()
    },
    /** @returns them */
    async expectOrdersOfChain(head: number): Promise<readonly OrderMessage[]> {
      const expected = await expectedOrders(chain, Math.max(0, head - confirmations))
      const pageSize = random.integer(1, 60)
      const read = () =>
        listOrders(
          chain.chainId,
          { pageSize },
          () => services[random.integer(0, services.length - 1)] as TestService,
        )
      const orders = await eventually(read, (list) => isSame(list, expected)).catch(read)
      expect(orders).toEqual(expected)
      const [some] = expected
      if (some !== undefined) await expectFiltered(expected, { user: `${some.user}`, state: some.state })
      return expected
    },
  }

  async function expectFiltered(all: OrderMessage[], filter: Record<string, string>): Promise<void> {
    const wanted = all.filter((order) =>
      Object.entries(filter).every(([field, value]) => order[field as keyof OrderMessage] === value),
    )
    const [service] = services as [TestService]
    expect(await listOrders(chain.chainId, { ...filter, pageSize: 7 }, () => service)).toEqual(wanted)
  }
}

function isSame(one: readonly OrderMessage[], other: readonly OrderMessage[]): boolean {
  return JSON.stringify(one.map(sorted)) === JSON.stringify(other.map(sorted))
}

function sorted(order: OrderMessage): unknown {
  return Object.entries(order).sort(([a], [b]) => (a < b ? -1 : 1))
}
