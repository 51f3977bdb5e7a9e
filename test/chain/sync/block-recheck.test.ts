import { expect, it } from 'vitest'
import type { EventWithPosition } from '../../../packages/protocol/src/orders/block.js'
import { EventSinkError } from '../../../src/chain/event-sink.js'
import type { BlockReader } from '../../../src/chain/logs/block-reader.js'
import { createBlockRecheck } from '../../../src/chain/sync/block-recheck.js'
import type { ChainSyncContext } from '../../../src/chain/sync/context.js'
import { createLog } from '../../../src/telemetry/log.js'
import { only } from '../../support/only.js'

/** Times that a node may fail for a block. */
const MAX_FAILURES = 30

const HEADER = { number: 5, hash: '0x5', parentHash: '0x4', timestampMs: 5000, logsBloom: '0x' } as const
const EVENT: EventWithPosition = {
  event: {
    type: 'Settled',
    chainId: 1,
    orderId: '0x1',
    user: '0xa',
    solver: '0xb',
    blockNumber: 5,
    logIndex: 0,
    transactionHash: '0x7',
    blockTime: 6,
  },
  blockHash: '0x5',
}

it('a second reading that fails because of the database is repeated until it succeeds', async () => {
  const added: EventWithPosition[] = []
  const listener = { onLate() {}, onLogs() {} }
  const eventSink = {
    async appendMissing(events: readonly EventWithPosition[]) {
      added.push(...events)
      return events.length
    },
  }
  const parts = { config: { chainId: 1 }, eventSink, listener, log: createLog('silent') }
  const recheck = createBlockRecheck(only<ChainSyncContext>(parts), 1)
  let isDown = true
  const reader = only<BlockReader>({
    header: async () => HEADER,
    async blocks() {
      if (isDown) throw new EventSinkError('the database is down')
      return [
        {
          header: HEADER,
          isProven: true,
          events: [EVENT],
          bondedSolvers: new Set(),
          cancelledNonces: [],
          changedOrders: [],
        },
      ]
    },
  })
  recheck.resume([HEADER])
  const run = () => recheck.run(reader, [HEADER], 10, 10)
  for (let failure = 0; failure <= MAX_FAILURES; failure++)
    await expect(run()).rejects.toBeInstanceOf(EventSinkError)
  isDown = false
  await run()
  expect(added).toEqual([EVENT])
})
