import type { PublicClient } from 'viem'
import { expect, test } from 'vitest'
import { createContractReader } from '../../../src/chain/contract/contract-reader.js'
import type { OrderCache } from '../../../src/chain/contract/order-cache.js'
import type { ChainSnapshot } from '../../../src/chain/sync/chain-state.js'
import { createLog } from '../../../src/telemetry/log.js'
import { createManualClock } from '../../support/manual-clock.js'

const HASH = `0x${'ab'.repeat(32)}` as const

test('orders that are not in memory cost one poll in a second, which begins after each of them was asked for', async () => {
  const clock = createManualClock()
  const polls: string[] = []
  const head = { number: 5, hash: HASH, parentHash: HASH, timestampMs: 0 }
  const snapshot: ChainSnapshot = { status: 'ok', head, last: head, published: 5, isIdle: false }
  const state = {
    snapshot,
    wake() {},
    async poll() {
      polls.push('poll')
      return true
    },
  }
  const orders = { peek: () => undefined, get: async () => ({ state: 'NONE' }) } as unknown as OrderCache
  const reader = createContractReader({
    chainId: 1,
    settlement: `0x${'12'.repeat(20)}`,
    client: {} as PublicClient,
    state: () => state,
    orders,
    readSteps: async () => ({}),
    clock,
    log: createLog('silent'),
  })
  await reader.readOrder(HASH)
  expect(polls).toHaveLength(1)
  const later = [1, 2, 3].map(() => reader.readOrder(HASH))
  await clock.advance(999)
  expect(polls).toHaveLength(1)
  later.push(reader.readOrder(HASH))
  await clock.advance(1)
  await Promise.all(later)
  expect(polls).toHaveLength(2)
})
