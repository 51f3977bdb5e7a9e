import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { createTraffic, type Traffic } from '../../support/chain/event-traffic.js'
import { eventually } from '../../support/eventually.js'
import { type ChaosProxy, startChaosProxy } from '../../support/faults/chaos-proxy.js'
import { startService, type TestService } from '../../support/service/service.js'
import { expectedMessages, standing } from '../../support/streams/event-messages.js'
import {
  createSubscriber,
  reversionsOf,
  type Subscriber,
  withoutCursors,
} from '../../support/streams/event-subscriber.js'

/** The seed of the traffic. */
const SEED = Number(process.env.EVENT_SEED ?? 11)

let chain: TestChain
let traffic: Traffic
let folder: string

beforeAll(async () => {
  chain = await startChain()
  traffic = await createTraffic(chain, { seed: SEED })
  folder = await mkdtemp(join(tmpdir(), 'quote-aggregator-'))
})
afterAll(async () => {
  await chain?.stop()
  await rm(folder, { recursive: true, force: true })
})

const POLL = () => ({ [`POLL_INTERVAL_MS_${chain.chainId}`]: '50' })

async function markEnd(): Promise<string> {
  const order = traffic.order()
  await traffic.mine([traffic.actions.deposit(order)])
  return order.orderId
}

async function mineEmpty(blocks: number): Promise<void> {
  for (let left = blocks; left > 0; left--) await traffic.mine()
}

/** Resolves when the service has read the chain's last block. */
async function untilSeen({ metric }: TestService): Promise<void> {
  const { number } = await traffic.head()
  const labels = { chain_id: String(chain.chainId) }
  await eventually(
    () => metric('aggregator_chain_head_block', labels),
    (head) => head >= number,
  )
}

describe('with five confirmations', () => {
  const CONFIRMATIONS = 5
  let proxy: ChaosProxy
  let service: TestService
  let subscriber: Subscriber

  beforeAll(async () => {
    proxy = await startChaosProxy(chain.devnet.rpcUrl)
    service = await startService(chain, {
      ...POLL(),
      [`RPC_URL_${chain.chainId}`]: proxy.url,
      [`CONFIRMATIONS_${chain.chainId}`]: String(CONFIRMATIONS),
    })
    subscriber = createSubscriber()
    await subscriber.connect(service.url)
  })
  afterAll(async () => {
    await subscriber?.disconnect()
    await service?.close()
    await proxy?.close()
  })

  test('an event is published at the block that confirms it, and not at the one before', async () => {
    const start = subscriber.received.length
    const orderIds: string[] = []
    for (let block = 0; block < 12; block++) {
      orderIds.push(await markEnd())
      await untilSeen(service)
      const confirmed = Math.max(0, orderIds.length - CONFIRMATIONS)
      await subscriber.untilCount(start + confirmed)
      const received = subscriber.received.slice(start).map(({ orderId }) => orderId)
      expect(received).toEqual(orderIds.slice(0, confirmed))
    }
  })

  test('a shallower reorganisation publishes only the events of the canonical blocks', async () => {
    const start = await caughtUp()
    const { number } = await traffic.head()
    await traffic.run({ events: 12, blocks: 4 })
    await untilSeen(service)
    const before = await reorganisations()
    for (const depth of [4, 1, 3]) await traffic.reorganiseAtRandom({ depth, events: 4 })
    await eventually(reorganisations, (count) => count > before)
    const marker = await markEnd()
    await mineEmpty(CONFIRMATIONS)
    await subscriber.until(marker)
    expect(withoutCursors(subscriber.received.slice(start))).toEqual(
      await expectedMessages(chain, number + 1),
    )
  })

  test('a reorganisation that is over and confirmed when the chain is read again removes nothing', async () => {
    const start = await caughtUp()
    const { number } = await traffic.head()
    await traffic.run({ events: 20, blocks: 4 })
    await untilSeen(service)
    proxy.set({ unavailable: 1 })
    await traffic.reorganise(4)
    const marker = await markEnd()
    await mineEmpty(CONFIRMATIONS)
    proxy.calm()
    await subscriber.until(marker)
    expect(withoutCursors(subscriber.received.slice(start))).toEqual(
      await expectedMessages(chain, number + 1),
    )
  })

  test('a deeper reorganisation removes what was published', async () => {
    const start = await caughtUp()
    const { number } = await traffic.head()
    await traffic.run({ events: 30, blocks: 9 })
    const confirmed = await expectedMessages(chain, number + 1, number + 9 - CONFIRMATIONS)
    await subscriber.untilCount(start + confirmed.length)
    await traffic.reorganise(7)
    const marker = await markEnd()
    await mineEmpty(CONFIRMATIONS)
    await subscriber.until(marker)
    const gone = confirmed.filter(({ blockNumber }) => blockNumber > number + 2)
    expect(gone).not.toEqual([])
    expect(withoutCursors(subscriber.received.slice(start))).toEqual([
      ...confirmed,
      ...reversionsOf(gone),
      ...(await expectedMessages(chain, number + 3)),
    ])
  })

  const reorganisations = () =>
    service.metric('aggregator_reorganisations_total', { chain_id: String(chain.chainId) })

  /** The number of messages when no more come. */
  async function caughtUp(): Promise<number> {
    const marker = await markEnd()
    await mineEmpty(CONFIRMATIONS)
    await subscriber.until(marker)
    return subscriber.received.length
  }
})

describe('a reorganisation deeper than MAX_REORG_DEPTH', () => {
  const MAX_REORG_DEPTH = '6'

  /** A service whose log is captured. */
  async function startShallow(environment: Record<string, string> = {}) {
    const lines: { level: number; msg: string }[] = []
    const log = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) })
    const service = await startService(chain, { ...POLL(), MAX_REORG_DEPTH, ...environment }, { log })
    const alarms = () => lines.filter(({ level, msg }) => level >= 50 && msg.includes('deeper than'))
    return { service, alarms }
  }

  test('is logged, and everything after its first block is removed and read again', async () => {
    const { number } = await traffic.head()
    const { service, alarms } = await startShallow()
    const subscriber = createSubscriber()
    await subscriber.connect(service.url)
    await traffic.run({ events: 60, blocks: 20 })
    await subscriber.until(await markEnd())
    expect(alarms()).toEqual([])
    await traffic.reorganiseAtRandom({ depth: 12, events: 25, longerBy: 2 })
    await subscriber.until(await markEnd())
    expect(standing(subscriber.received)).toEqual(await expectedMessages(chain, number + 1))
    expect(subscriber.received.filter(({ type }) => type === 'Reverted')).not.toEqual([])
    expect(alarms()).toHaveLength(1)
    await subscriber.disconnect()
    await service.close()
  })

  test('is found at the start when it happened while the service was down', async () => {
    const { number } = await traffic.head()
    const environment = { DB_PATH: join(folder, 'deep.db') }
    const before = await startShallow(environment)
    const subscriber = createSubscriber()
    await subscriber.connect(before.service.url)
    await traffic.run({ events: 60, blocks: 20 })
    await subscriber.until(await markEnd())
    await subscriber.disconnect()
    await before.service.close()

    await traffic.reorganiseAtRandom({ depth: 15, events: 20, longerBy: 30 })
    const after = await startShallow(environment)
    await subscriber.connect(after.service.url)
    await subscriber.until(await markEnd())
    expect(standing(subscriber.received)).toEqual(await expectedMessages(chain, number + 1))
    expect(after.alarms()).toHaveLength(1)
    await subscriber.disconnect()
    await after.service.close()
  })
})

describe('a chain that was rolled back while the service was down', () => {
  test.each([
    { and: 'stays lower', blocks: 2 },
    { and: 'grows past its old height', blocks: 9 },
  ])('and $and publishes its new events', async ({ and, blocks }) => {
    const { number } = await traffic.head()
    const environment = { ...POLL(), DB_PATH: join(folder, `${blocks}.db`) }
    const before = await startService(chain, environment)
    const subscriber = createSubscriber()
    await subscriber.connect(before.url)
    await traffic.run({ events: 30, blocks: 8 })
    const marker = await markEnd()
    await subscriber.until(marker)
    await subscriber.disconnect()
    await before.close()

    await traffic.rollBack(5)
    await traffic.run({ events: 10, blocks })
    const after = await startService(chain, environment)
    await subscriber.connect(after.url)
    await subscriber.until(marker, 'Reverted')
    await subscriber.until(await markEnd())
    expect(standing(subscriber.received), and).toEqual(await expectedMessages(chain, number + 1))
    const { body } = await after.get(`/v1/${chain.chainId}/order/${marker}`)
    expect(body.state).toBe('NONE')
    await subscriber.disconnect()
    await after.close()
  })
})
