import { expect, test } from 'vitest'
import type { OrderPosition } from '../../../packages/protocol/src/orders/order.js'
import type { Hex } from '../../../packages/protocol/src/values/hex.js'
import type { ChainSyncContext } from '../../../src/chain/sync/context.js'
import { createTermsRetry } from '../../../src/chain/sync/terms-retry.js'
import { createLog } from '../../../src/telemetry/log.js'
import { createManualClock } from '../../support/manual-clock.js'
import { only } from '../../support/only.js'
import { orderWith, word } from './any-orders.js'

/** The retry over 25 orders without terms. */
function start(answer: () => Hex) {
  const left = new Set(Array.from({ length: 25 }, (_, index) => word(index + 1)))
  const clock = createManualClock()
  let pages = 0
  const eventSink = {
    async ordersWithoutTerms(after: OrderPosition | undefined, limit: number) {
      pages++
      const later = [...left].filter((orderId) => after === undefined || orderId > after.orderId)
      return later.slice(0, limit).map((orderId) => ({ orderId, blockNumber: 1, logIndex: 0 }))
    },
    async completeOrders(known: readonly { readonly orderId: Hex }[]) {
      return known.filter(({ orderId }) => left.delete(orderId)).length
    },
  }
  const context = only<ChainSyncContext>({
    config: { chainId: 1, settlement: `0x${'5e'.repeat(20)}` },
    rpc: { client: { request: async () => answer() } },
    eventSink,
    clock,
    log: createLog('silent'),
  })
  const retry = createTermsRetry(context)
  retry.start()
  retry.start()
  return { ...retry, clock, left, pages: () => pages }
}

test('orders get their terms page by page, and new ones are looked for every two seconds', async () => {
  const { clock, left, pages, close } = start(() => orderWith(2))
  await clock.advance(200)
  expect([left.size, pages()]).toEqual([0, 3])
  left.add(word(99))
  await clock.advance(2000)
  expect(left.size).toBe(0)
  await close()
})

test.each([
  ['whose node does not answer', () => Promise.reject(new Error('no state')) as never],
  ['that the contract does not know', () => orderWith(0)],
])('orders %s wait, ever longer', async (_what, refuse) => {
  let answer: () => Hex = refuse
  const { clock, left, pages, close } = start(() => answer())
  await clock.advance(4000)
  expect([left.size, pages()]).toEqual([25, 3])
  await clock.advance(8000)
  expect(pages()).toBe(6)
  answer = () => orderWith(2)
  await clock.advance(8000)
  expect(left.size).toBe(0)
  await close()
})
