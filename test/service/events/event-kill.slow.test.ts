import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTraffic } from '../../support/chain/event-traffic.js'
import { eventually } from '../../support/eventually.js'
import { NodeError } from '../../support/model-chain/model-node.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startServiceProcess } from '../../support/process/process.js'
import { createRandom } from '../../support/random.js'
import { environmentFor, startService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import {
  expectedMessages,
  firstDifference,
  standing,
  withoutCursors,
} from '../../support/streams/event-messages.js'
import { createSubscriber, type Subscriber } from './event-subscriber.js'

/** The seed of the traffic and of the moments. What a moment hits still differs from run to run. */
const SEED = Number(process.env.EVENT_SEED ?? 1)
const TIMEOUT_MS = 180_000
/** The blocks that are mined while a process starts and runs. A moment is as long as it takes. */
const MOMENT = { events: 4, blocks: 2 }

const random = createRandom(SEED)

const chain = await shared(startModelChain())
const traffic = await createTraffic(chain, { seed: SEED })
const node = await shared(chain.openNode())
const folder = await mkdtemp(join(tmpdir(), 'quote-aggregator-'))

afterAll(() => rm(folder, { recursive: true, force: true }))

/** A process on a database file, and a subscriber that reconnects to it. */
function mortalService(variables: Record<string, string>) {
  const environment = {
    ...environmentFor(chain),
    [`RPC_URL_${chain.chainId}`]: node.url,
    [`POLL_INTERVAL_MS_${chain.chainId}`]: '20',
    ...variables,
  }
  const subscriber = createSubscriber()
  let running: ReturnType<typeof startServiceProcess> | undefined

  return {
    environment,
    subscriber,
    start() {
      running = startServiceProcess(environment)
    },
    /** Resolves when the subscriber has reconnected. */
    async comeBack(): Promise<void> {
      const [, url = ''] = (await running?.waitFor(/"url":"([^"]+)"/)) ?? []
      await subscriber.connect(url)
    },
    isListening: () => running?.output().includes('"url"') === true,
    async kill(): Promise<void> {
      running?.signal('SIGKILL')
      await running?.exited
      await subscriber.disconnect()
    },
  }
}

/** Mines blocks until something is there. */
async function mineUntil(isThere: () => boolean): Promise<void> {
  while (!isThere()) await traffic.run(MOMENT)
}

async function mineMoments(count: number): Promise<void> {
  for (let moment = 0; moment < count; moment++) await traffic.run(MOMENT)
}

/** The last of all events, once it has come. */
async function untilEnd(subscriber: Subscriber): Promise<void> {
  const order = traffic.order()
  await traffic.mine([traffic.actions.deposit(order)])
  await subscriber.until(order.orderId)
}

describe(`a process that is killed again and again at moments of seed ${SEED}`, () => {
  const BACKLOG = { events: 900, blocks: 150 }
  /** So small that reading the backlog takes as long as some processes run. */
  const MAX_RANGE = 2
  /** Nine to find the size, and then one every three blocks. */
  const REFUSALS = 24
  let mortal: ReturnType<typeof mortalService>
  let fromBlock: number
  let refused = 0

  beforeAll(async () => {
    fromBlock = (await traffic.head()).number + 1
    mortal = mortalService({
      DB_PATH: join(folder, 'killed.db'),
      MAX_REORG_DEPTH: '8',
      [`START_BLOCK_${chain.chainId}`]: String(fromBlock),
    })
    // The subscriber connects before anything was read, so that its cursor is the log's beginning.
    node.setState('down')
    const service = await startService(chain, mortal.environment)
    await mortal.subscriber.connect(service.url)
    await mortal.subscriber.disconnect()
    await service.close()
    node.setState('up')
    node.intercept(({ method, params }, answer) => {
      const { fromBlock: from, toBlock: to } = (params?.[0] ?? {}) as { fromBlock?: string; toBlock?: string }
      if (method !== 'eth_getLogs' || !(Number(to) - Number(from) >= MAX_RANGE)) return answer()
      refused++
      throw new NodeError(-32000, 'block range is too wide')
    })
    await traffic.run(BACKLOG)
  }, TIMEOUT_MS)
  afterAll(() => mortal.kill())

  test(
    'continues where it was after kills at its start and while it reads the past',
    async () => {
      for (const moments of [2, random.integer(1, 40)]) {
        mortal.start()
        await mineMoments(moments)
        await mortal.kill()
      }
      for (let life = 0; life < 2; life++) {
        const refusals = refused + random.integer(1, REFUSALS)
        mortal.start()
        await mineUntil(() => refused >= refusals)
        await mortal.kill()
      }
      // While the past is read the node stops answering, so that the subscriber reconnects to a part of it.
      const refusals = refused + random.integer(REFUSALS / 2, REFUSALS)
      mortal.start()
      await mineUntil(() => refused >= refusals)
      node.setState('silent')
      await mortal.comeBack()
      await mortal.subscriber.untilCount(1)
      await mortal.kill()
      expect(mortal.subscriber.received().length).toBeLessThan(
        (await expectedMessages(chain, fromBlock)).length,
      )
    },
    TIMEOUT_MS,
  )

  test(
    'publishes everything once and in order after kills while it follows the chain',
    async () => {
      node.setState('up')
      node.intercept()
      for (let life = 0; life < 2; life++) {
        mortal.start()
        await mineUntil(mortal.isListening)
        await mortal.comeBack()
        await untilEnd(mortal.subscriber)
        await mineMoments(random.integer(1, 15))
        await mortal.kill()
      }
      mortal.start()
      await mortal.comeBack()
      await untilEnd(mortal.subscriber)
      const expected = await expectedMessages(chain, fromBlock)
      const received = mortal.subscriber.received()
      expect(firstDifference(withoutCursors(received), expected), `seed ${SEED}`).toBeUndefined()
    },
    TIMEOUT_MS,
  )

  test(
    'reverts what it had published and publishes the new events after reorganisations that it missed',
    async () => {
      const { subscriber } = mortal
      for (const longerBy of [0, 12]) {
        await traffic.run({ events: 40, blocks: 10 })
        // Publishes the very last block: every reorganisation removes something.
        await untilEnd(subscriber)
        await mortal.kill()
        const before = subscriber.received().length
        await traffic.reorganiseAtRandom({ depth: random.integer(2, 8), events: 8, longerBy })
        mortal.start()
        await mortal.comeBack()
        await eventually(
          async () => subscriber.received().slice(before),
          (received) => received.some(({ type }) => type === 'Reverted'),
        )
      }
      await untilEnd(subscriber)
      const expected = await expectedMessages(chain, fromBlock)
      expect(firstDifference(standing(subscriber.received()), expected), `seed ${SEED}`).toBeUndefined()
    },
    TIMEOUT_MS,
  )
})
