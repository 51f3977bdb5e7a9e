import { expect, test } from 'vitest'
import { createWriteBehind } from '../../src/store/write-behind.js'
import { createLog } from '../../src/telemetry/log.js'
import { createMetrics } from '../../src/telemetry/metrics.js'
import { createManualClock } from '../support/manual-clock.js'

test('a flush writes the rows that wait, and ends although others come during each write', async () => {
  const saved: number[] = []
  let next = 0
  const writer = createWriteBehind<number>({
    async save(rows) {
      saved.push(...rows)
      // The limit is for a flush that does not end.
      if (next < 100) writer.add(next++)
    },
    maxBatch: 2,
    what: 'numbers',
    counter: createMetrics().quoteRecords,
    clock: createManualClock(0),
    log: createLog('silent'),
  })
  while (next < 3) writer.add(next++)
  expect(await writer.flush()).toBe(true)
  expect([saved, writer.waiting()]).toEqual([[0, 1, 2, 3], [4]])
})
