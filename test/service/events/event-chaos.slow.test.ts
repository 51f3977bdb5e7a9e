import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { createTraffic, type Traffic } from '../../support/chain/event-traffic.js'
import type { Faults } from '../../support/faults/chaos-proxy.js'
import {
  type FaultyEndpoint,
  type FaultyService,
  startFaultyService,
} from '../../support/faults/faulty-service.js'
import { createRandom } from '../../support/random.js'
import { expectedMessages, standing } from '../../support/streams/event-messages.js'
import { firstDifference, withoutCursors } from '../../support/streams/event-subscriber.js'

/** The seed of all draws. The timing of calls and faults still differs from run to run. */
const SEED = Number(process.env.EVENT_SEED ?? 1)
const TIMEOUT_MS = 180_000
const CHUNK = { events: 36, blocks: 4 }
const CHUNKS = 62

const CALLS: Faults = { unavailable: 0.04, disconnect: 0.04, error: 0.003, stale: 0.005, lag: 3 }
const SOCKET: Faults = {
  ...CALLS,
  unavailable: 0.3,
  disconnect: 0.005,
  swallowHead: 0.2,
  dropWebSockets: 0.02,
}
const variants: Record<string, readonly FaultyEndpoint[]> = {
  'over HTTP': [{ protocol: 'http', faults: CALLS }],
  'over a WebSocket': [{ protocol: 'ws', faults: SOCKET }],
  'with two URLs, one down half of the time and the other 2 blocks late': [
    { protocol: 'http', faults: { unavailable: 0.05, disconnect: 0.05 }, isDownAtTimes: true },
    { protocol: 'http', faults: { disconnect: 0.05, stale: 1, lag: 2 } },
  ],
}
const names = Object.keys(variants)

const random = createRandom(SEED)
const services = new Map<string, FaultyService>()
let chain: TestChain
let traffic: Traffic
let fromBlock: number

beforeAll(async () => {
  chain = await startChain({ extraArgs: ['--prune-history', '5000'] })
  traffic = await createTraffic(chain, { seed: SEED })
  fromBlock = (await traffic.head()).number + 1
  const environment = { [`START_BLOCK_${chain.chainId}`]: String(fromBlock) }
  for (const name of names) {
    services.set(name, await startFaultyService(chain, random, variants[name] ?? [], environment))
  }
}, TIMEOUT_MS)

afterAll(async () => {
  await closeAll()
  await chain?.stop()
})

async function closeAll(): Promise<void> {
  await Promise.all([...services.values()].map((service) => service.close()))
  services.clear()
}

const serviceOf = (name: string) => services.get(name) as FaultyService
const stepAll = () => Promise.all([...services.values()].map((service) => service.step()))

/** Ends all faults, and waits until every subscriber has everything. */
async function calmAll(): Promise<void> {
  await Promise.all([...services.values()].map((service) => service.calm()))
  const order = traffic.order()
  await traffic.mine([traffic.actions.deposit(order)])
  const subscribers = [...services.values()].flatMap(({ staying, leaving }) => [staying, leaving])
  await Promise.all(subscribers.map((subscriber) => subscriber.until(order.orderId)))
}

function beginAll(): void {
  for (const service of services.values()) service.begin()
}

/** Goes on until every kind of fault has occurred everywhere. */
async function goOnUntilAllHasHappened(): Promise<void> {
  const isMissing = () => [...services.values()].some(({ missing }) => missing().length > 0)
  while (isMissing()) {
    await traffic.run({ events: 3, blocks: 2 })
    await stepAll()
  }
}

describe(`thousands of events through faults of seed ${SEED}`, () => {
  beforeAll(async () => {
    beginAll()
    for (let chunk = 0; chunk < CHUNKS; chunk++) {
      await traffic.run(CHUNK)
      await stepAll()
    }
    await goOnUntilAllHasHappened()
    await calmAll()
  }, TIMEOUT_MS)

  test.each(names)('come once and in order: %s', async (name) => {
    const { staying, leaving, missing } = serviceOf(name)
    const expected = await expectedMessages(chain, fromBlock)
    expect(missing()).toEqual([])
    expect(expected.length).toBeGreaterThan(2000)
    expect(firstDifference(withoutCursors(staying.received), expected), `seed ${SEED}`).toBeUndefined()
    expect(firstDifference(leaving.received, staying.received), `seed ${SEED}`).toBeUndefined()
  })
})

describe(`random reorganisations through faults of seed ${SEED}`, () => {
  const ROUNDS = 10
  const hasSeenAny = ({ staying }: FaultyService) => staying.received.some(({ type }) => type === 'Reverted')
  beforeAll(async () => {
    beginAll()
    // A service whose node is down or late may miss many of them: those blocks are replaced before it reads them.
    for (let round = 0; round < ROUNDS || ![...services.values()].every(hasSeenAny); round++) {
      await traffic.run({ events: 12, blocks: 3 })
      await stepAll()
      const size = { depth: random.integer(1, 7), events: 6, longerBy: random.integer(0, 2) }
      await traffic.reorganiseAtRandom(size)
      await stepAll()
    }
    await calmAll()
  }, TIMEOUT_MS)

  test.each(names)('leave the events of the last chain: %s', async (name) => {
    const { staying, leaving } = serviceOf(name)
    const expected = await expectedMessages(chain, fromBlock)
    expect(firstDifference(standing(staying.received), expected), `seed ${SEED}`).toBeUndefined()
    expect(firstDifference(leaving.received, staying.received), `seed ${SEED}`).toBeUndefined()
  })
})

describe(`events from before the start, through faults of seed ${SEED}`, () => {
  // A node that refuses calls rests for a second, so this service reads few heads.
  const RANGES: Faults = { ...CALLS, stale: 0.1, maxRange: 9 }
  let late: FaultyService

  beforeAll(async () => {
    await closeAll()
    late = await startFaultyService(chain, random, [{ protocol: 'http', faults: RANGES }], {
      MAX_REORG_DEPTH: '8',
      [`START_BLOCK_${chain.chainId}`]: '1',
    })
    services.set('late', late)
    beginAll()
    await goOnUntilAllHasHappened()
    await calmAll()
  }, TIMEOUT_MS)

  test('come in ranges that the node accepts, once and in order', async () => {
    const expected = await expectedMessages(chain)
    expect(firstDifference(withoutCursors(late.staying.received), expected), `seed ${SEED}`).toBeUndefined()
    expect(firstDifference(late.leaving.received, late.staying.received), `seed ${SEED}`).toBeUndefined()
  })
})
