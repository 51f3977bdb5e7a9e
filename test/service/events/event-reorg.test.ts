import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { solverAccounts, user } from '../../support/chain/chain.js'
import { createTraffic } from '../../support/chain/event-traffic.js'
import { databases } from '../../support/databases/service-databases.js'
import { NodeError } from '../../support/model-chain/model-node.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService, type TestService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { expectedMessages, reversionsOf, withoutCursors } from '../../support/streams/event-messages.js'
import { createSubscriber } from './event-subscriber.js'

const TERMS = { inputAmount: 5n, outputAmount: 70n, fillDeadline: 4_100_000_000 }

/** The seed of the traffic. */
const SEED = Number(process.env.EVENT_SEED ?? 7)

const chain = await shared(startModelChain())
const traffic = await createTraffic(chain, { seed: SEED })

/** A block whose deposit is a marker: when it is published, so is everything before it. */
async function markEnd(): Promise<string> {
  const order = traffic.actions.order({ user: user.address, solver: solverAccounts[0], ...TERMS })
  await traffic.mine([traffic.actions.deposit(order)])
  return order.orderId
}

test.each(databases)(
  'on %s, a restart amid a reorganisation deeper than MAX_REORG_DEPTH loses and repeats nothing',
  async (_kind, make) => {
    const database = await make()
    const node = await chain.openNode()
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
      await node.stop()
      await database.drop()
    })
    const { number: root } = await traffic.mine([traffic.actions.deposit(traffic.order())])
    await traffic.run({ events: 40, blocks: 12 })
    const published = await expectedMessages(chain, root)
    await subscriber.untilCount(published.length)
    expect(alarms).toEqual([])

    // The node tells its new blocks, but not what happened in them.
    node.intercept(({ method }, answer) => {
      if (/Logs|Receipts/.test(method)) throw new NodeError(-32000, 'not now')
      return answer()
    })
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
