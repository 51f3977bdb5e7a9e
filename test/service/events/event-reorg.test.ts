import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { solverAccounts, user } from '../../support/chain/chain.js'
import { createTraffic } from '../../support/chain/event-traffic.js'
import { databases, type TestDatabase } from '../../support/databases/service-databases.js'
import { startRpcProxy } from '../../support/faults/rpc-proxy.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService, type TestService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { expectedMessages, reversionsOf, withoutCursors } from '../../support/streams/event-messages.js'
import { createSubscriber, type Subscriber } from './event-subscriber.js'

const TERMS = { inputAmount: 5n, outputAmount: 70n, fillDeadline: 4_100_000_000 }

/** The seed of the traffic. */
const SEED = Number(process.env.EVENT_SEED ?? 7)

let service: TestService
let live: Subscriber

const chain = await shared(startModelChain())
const traffic = await createTraffic(chain, { seed: SEED })

/** A block whose deposit is a marker: when it is published, so is everything before it. */
async function markEnd(): Promise<string> {
  const order = traffic.actions.order({ user: user.address, solver: solverAccounts[0], ...TERMS })
  await traffic.mine([traffic.actions.deposit(order)])
  return order.orderId
}

async function orderState(orderId: string): Promise<string> {
  return (await service.get(`/v1/${chain.chainId}/order/${orderId}`)).body.state
}

/** Three blocks with published events: a deposit; a fill and a settlement; a late refund. */
async function publishStory() {
  const { actions, order, mine } = traffic
  const [filled, settled] = [order(), order()]
  const late = order((await traffic.head()).timestamp - 1)
  const blocks = [
    [actions.deposit(filled)],
    [actions.fill(filled), actions.settle(settled)],
    [actions.refundAddressDeposit(late)],
  ]
  const start = live.received().length
  const { number: first } = await mine(blocks[0])
  for (const block of blocks.slice(1)) await mine(block)
  const published = await expectedMessages(chain, first)
  await live.untilCount(start + published.length)
  expect(withoutCursors(live.received().slice(start))).toEqual(published)
  /** The messages since the story, up to a marker. */
  const since = async (marker: string) => {
    await live.until(marker)
    return withoutCursors(live.received().slice(start + published.length))
  }
  return { blocks, filled, settled, late, first, published, since }
}

test.each(databases)(
  'on %s, a restart amid a reorganisation deeper than MAX_REORG_DEPTH loses and repeats nothing',
  async (_kind, make) => {
    const database = await make()
    const node = await startRpcProxy(chain.devnet.rpcUrl)
    const subscriber = createSubscriber()
    const alarms: object[] = []
    const onLine = (line: string) => void alarms.push(JSON.parse(line))
    const start = async () => {
      const started = await startService(
        chain,
        {
          ...database.environment,
          MAX_REORG_DEPTH: '6',
          [`RPC_URL_${chain.chainId}`]: node.url,
          [`POLL_INTERVAL_MS_${chain.chainId}`]: '50',
        },
        { log: pino({ level: 'error' }, { write: onLine }) },
      )
      await subscriber.connect(started.url)
      return started
    }
    const stop = async (running: TestService) => {
      await subscriber.disconnect()
      await running.close()
    }
    const before = await start()
    onTestFinished(async () => {
      await node.close()
      await database.drop()
    })
    const { number: root } = await traffic.mine([traffic.actions.deposit(traffic.order())])
    await traffic.run({ events: 40, blocks: 12 })
    const published = await expectedMessages(chain, root)
    await subscriber.untilCount(published.length)
    expect(alarms).toEqual([])

    // The node tells its new blocks, but not what happened in them.
    const silent = { error: { code: -32000, message: 'not now' } }
    node.intercept(async ({ method }, pass) => (/Logs|Receipts/.test(method) ? silent : pass()))
    await traffic.reorganiseAtRandom({ depth: 12, events: 25 })
    const gone = published.filter(({ blockNumber }) => blockNumber > root)
    await subscriber.untilCount(published.length + gone.length)
    await stop(before)
    expect(alarms).toEqual([
      expect.objectContaining({
        chainId: chain.chainId,
        maxReorgDepth: 6,
        from: root + 1,
        msg: expect.stringMatching(/^a reorganisation deeper than MAX_REORG_DEPTH: /),
      }),
    ])

    node.intercept()
    const after = await start()
    await subscriber.until(await markEnd())
    await stop(after)
    expect(withoutCursors(subscriber.received())).toEqual([
      ...published,
      ...reversionsOf(gone),
      ...(await expectedMessages(chain, root + 1)),
    ])
    expect(alarms).toHaveLength(1)
  },
)

describe.each(databases)('on %s,', (_kind, make) => {
  let database: TestDatabase

  beforeAll(async () => {
    database = await make()
    service = await startService(chain, {
      [`POLL_INTERVAL_MS_${chain.chainId}`]: '50',
      ...database.environment,
    })
    live = createSubscriber()
    await live.connect(service.url)
  })
  afterAll(async () => {
    await live?.disconnect()
    await service?.close()
    await database?.drop()
  })

  describe('a reorganisation of published blocks', () => {
    test('with other transactions publishes the events of those instead', async () => {
      const { blocks, published, filled, settled, first, since } = await publishStory()
      const other = traffic.order()
      await traffic.reorganise(2, [[traffic.actions.deposit(other)]])
      const marker = await markEnd()
      expect(await since(marker)).toEqual([
        ...reversionsOf(published.slice(1)),
        ...(await expectedMessages(chain, first + 1)),
      ])
      expect(blocks[0]).toHaveLength(1)
      const states = [filled, settled, other].map(({ orderId }) => orderState(orderId))
      expect(await Promise.all(states)).toEqual(['DEPOSITED', 'NONE', 'DEPOSITED'])
    })
  })

  describe('a chain that was rolled back', () => {
    test('and has stayed shorter publishes its new events too', async () => {
      const { published, filled, first, since } = await publishStory()
      traffic.rollBack(3)
      const marker = await markEnd()
      expect(await since(marker)).toEqual([
        ...reversionsOf(published),
        ...(await expectedMessages(chain, first)),
      ])
      expect(await orderState(filled.orderId)).toBe('NONE')
    })
  })
})
