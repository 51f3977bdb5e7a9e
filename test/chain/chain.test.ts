import { expect, onTestFinished, test } from 'vitest'
import { createChain } from '../../src/chain/chain.js'
import { createOrderCaches } from '../../src/chain/contract/order-cache.js'
import type { TopicListener } from '../../src/cluster/cluster.js'
import type { Topic } from '../../src/store/topics.js'
import { createLog } from '../../src/telemetry/log.js'
import { createMetrics } from '../../src/telemetry/metrics.js'
import { createManualClock } from '../support/manual-clock.js'
import { only } from '../support/only.js'

/** A chain of a follower replica, which reads no node here: its state is what the leader publishes. */
function startFollower() {
  const clock = createManualClock()
  const listeners: TopicListener[] = []
  const chain = createChain(
    only({ chainId: 1, rpcUrls: ['http://127.0.0.1:1'], settlement: `0x${'5e'.repeat(20)}` as const }),
    only({
      orderCaches: createOrderCaches([1]),
      orderStore: { readSteps: async () => expect.unreachable() },
      cluster: { listen: (_topic: Topic, listener: TopicListener) => void listeners.push(listener) },
      metrics: createMetrics(),
      clock,
      log: createLog('silent'),
    }),
  )
  onTestFinished(chain.close)
  return {
    chain,
    clock,
    publish: (snapshot: object) => {
      for (const { onMessage } of listeners) onMessage(JSON.stringify({ chainId: 1, snapshot }))
    },
  }
}

test('the lag of a chain is the age of its head by the clock of the service', async () => {
  const { chain, clock, publish } = startFollower()
  const head = { number: 7, hash: '0x7', timestampMs: clock.now() - 2000 }
  publish({ status: 'ok', head })
  expect(chain.status()).toMatchObject({ headBlock: 7, lagMs: 2000 })
  await clock.advance(5000)
  expect(chain.status()).toMatchObject({ headBlock: 7, lagMs: 7000 })
})
