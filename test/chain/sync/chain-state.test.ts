import { expect, it } from 'vitest'
import type { Hex } from '../../../packages/protocol/src/values/hex.js'
import type { ChainContext } from '../../../src/chain/context.js'
import { createOrderCaches } from '../../../src/chain/contract/order-cache.js'
import {
  type ChainSnapshot,
  createChainStatePublisher,
  createRemoteChainState,
} from '../../../src/chain/sync/chain-state.js'
import type { ClusterBus, TopicListener } from '../../../src/cluster/cluster.js'
import { createManualClock } from '../../support/manual-clock.js'
import { only } from '../../support/only.js'

const STALE_MS = 4000
const LAST = { number: 9, hash: '0x9' } as const
const HEAD = { ...LAST, parentHash: '0x8', timestampMs: 1000 } as const
const SNAPSHOT: ChainSnapshot = { status: 'ok', head: HEAD, last: LAST, published: 8 }

/** The state on a follower replica, with the publisher of its leader. */
async function startReplica({ head = LAST.hash }: { head?: Hex } = {}) {
  const listeners: TopicListener[] = []
  const done: string[] = []
  const orders = createOrderCaches([1]).of(1)
  const clock = createManualClock()
  const cluster: ClusterBus = {
    listen: (_topic, listener) => void listeners.push(listener),
    publish(_topic, text) {
      for (const listener of listeners) listener.onMessage(text)
    },
  }
  const rpc = { client: { request: async () => ({ hash: head }) } }
  const contextOf = (chainId: number) =>
    only<ChainContext>({ config: { chainId }, rpc, cluster, orders, clock })
  const state = createRemoteChainState(contextOf(1), () => void done.push('snapshot'))
  const publisherOf = (chainId: number) => createChainStatePublisher(contextOf(chainId), () => {})
  for (const orderId of ['0x1', '0x2'] as const) {
    const order = { state: 'NONE', chainId: 1, orderId } as const
    await orders.get(orderId, 1, async () => ({ order, atBlock: 1 }))
  }
  return {
    state,
    clock,
    done,
    publisher: publisherOf(1),
    otherPublisher: publisherOf(2),
    miss() {
      for (const listener of listeners) listener.onMissed()
    },
    /** The orders in memory. */
    cached: () => (['0x1', '0x2'] as const).filter((orderId) => orders.peek(orderId, 1) !== undefined),
  }
}

it('a snapshot counts until the leader has been silent for some seconds', async () => {
  const { state, publisher, clock } = await startReplica()
  expect(state.snapshot.status).toBe('syncing')
  publisher.publishSnapshot(SNAPSHOT)
  await clock.advance(STALE_MS)
  expect(state.snapshot).toEqual(SNAPSHOT)
  await clock.advance(1)
  expect(state.snapshot).toEqual({ ...SNAPSHOT, status: 'syncing' })
})

it('an invalidated order leaves the memory, and the last block is unknown until the next snapshot', async () => {
  const { state, publisher, cached } = await startReplica()
  publisher.publishSnapshot(SNAPSHOT)
  publisher.invalidateOrders(['0x1'])
  expect([cached(), state.snapshot]).toEqual([['0x2'], { ...SNAPSHOT, last: undefined }])
  publisher.publishSnapshot(SNAPSHOT)
  expect(state.snapshot).toEqual(SNAPSHOT)
  publisher.invalidateOrders()
  expect(cached()).toEqual([])
})

it('lost messages make the snapshot old and empty the memory', async () => {
  const { state, publisher, miss, cached } = await startReplica()
  publisher.publishSnapshot(SNAPSHOT)
  miss()
  expect([cached(), state.snapshot.status]).toEqual([[], 'syncing'])
})

it('the messages of another chain change nothing, and a snapshot of this one is passed on', async () => {
  const { state, publisher, otherPublisher, cached, done } = await startReplica()
  otherPublisher.publishSnapshot(SNAPSHOT)
  otherPublisher.invalidateOrders()
  expect([cached(), state.snapshot.published, done]).toEqual([['0x1', '0x2'], undefined, []])
  publisher.publishSnapshot(SNAPSHOT)
  expect(done).toEqual(['snapshot'])
})

it('the last snapshot of the own chain sync is old', async () => {
  const { state } = await startReplica()
  state.continueFrom(SNAPSHOT)
  expect(state.snapshot).toEqual({ ...SNAPSHOT, status: 'syncing' })
})

it.each([
  ['is', LAST.hash, true],
  ['is not', '0x10', false],
] as const)(
  'a poll finds out that the last block %s the head of the node',
  async (_what, head, isCurrent) => {
    const { state, publisher } = await startReplica({ head })
    publisher.publishSnapshot(SNAPSHOT)
    expect(await state.poll()).toBe(isCurrent)
  },
)
