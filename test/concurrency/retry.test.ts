import { beforeEach, expect, test } from 'vitest'
import { createRetry } from '../../src/concurrency/retry.js'
import { deferred } from '../support/deferred.js'
import { createManualClock, type ManualClock } from '../support/manual-clock.js'

let clock: ManualClock
beforeEach(() => {
  clock = createManualClock()
})

/** Work that fails a number of times. */
function failing(times: number) {
  const log: string[] = []
  const retry = createRetry({
    async work() {
      log.push('run')
      if (log.filter((entry) => entry === 'run').length <= times) throw new Error('down')
    },
    delayMs: 1000,
    clock,
    onFailure: (error) => log.push(`failure: ${(error as Error).message}`),
    onRecovery: () => log.push('recovery'),
  })
  return { log, retry }
}

test('failed work is repeated after the delay until it succeeds, and reported once', async () => {
  const { log, retry } = failing(2)
  retry.run()
  await clock.advance(999)
  expect(log).toEqual(['run', 'failure: down'])
  await clock.advance(1)
  expect(log).toEqual(['run', 'failure: down', 'run'])
  await clock.advance(60_000)
  expect(log).toEqual(['run', 'failure: down', 'run', 'run', 'recovery'])
})

test('the delay doubles with each failure up to its maximum, and begins again after a success', async () => {
  const runs: number[] = []
  const retry = createRetry({
    async work() {
      runs.push(clock.now() - start)
      if (runs.length !== 5) throw new Error('down')
    },
    delayMs: 1000,
    clock,
    maxDelayMs: 3000,
  })
  const start = clock.now()
  retry.run()
  await clock.advance(9000)
  expect(runs).toEqual([0, 1000, 3000, 6000, 9000])
  retry.run()
  await clock.advance(1000)
  expect(runs.slice(5)).toEqual([9000, 10_000])
  await retry.close()
})

test('a call between two attempts does not wait for the delay, and leaves no second timer', async () => {
  const { log, retry } = failing(1)
  retry.run()
  await clock.advance(500)
  retry.run()
  await clock.advance(0)
  expect(log).toEqual(['run', 'failure: down', 'run', 'recovery'])
  await clock.advance(60_000)
  expect(log).toHaveLength(4)
})

test('a call during a run leads to one more run', async () => {
  const first = deferred()
  let runs = 0
  const retry = createRetry({
    async work() {
      runs++
      await first.opened
    },
    delayMs: 1000,
    clock,
  })
  retry.run()
  retry.run()
  retry.run()
  expect(runs).toBe(1)
  first.open()
  await clock.advance(0)
  expect(runs).toBe(2)
})

test('nothing starts after close, neither a delayed attempt nor a new call', async () => {
  const { log, retry } = failing(10)
  retry.run()
  await clock.advance(500)
  await retry.close()
  retry.run()
  await clock.advance(60_000)
  expect(log).toEqual(['run', 'failure: down'])
})

test('close waits for the run under way, which then neither reports nor repeats', async () => {
  const run = deferred()
  const failures: unknown[] = []
  let runs = 0
  const retry = createRetry({
    async work() {
      runs++
      await run.opened
      throw new Error('down')
    },
    delayMs: 1000,
    clock,
    onFailure: (error) => failures.push(error),
  })
  retry.run()
  retry.run()
  let isClosed = false
  const closed = retry.close().then(() => {
    isClosed = true
  })
  await clock.advance(0)
  expect(isClosed).toBe(false)
  run.open()
  await closed
  await clock.advance(60_000)
  expect({ runs, failures }).toEqual({ runs: 1, failures: [] })
})
