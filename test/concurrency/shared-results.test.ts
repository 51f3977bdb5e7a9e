import { expect, test } from 'vitest'
import { createSharedResults } from '../../src/concurrency/shared-results.js'
import { createManualClock } from '../support/manual-clock.js'

/** Shared results of reads that a test ends. The result of a read says for how many milliseconds it is kept. */
function openShared(max = 10) {
  const clock = createManualClock()
  const reads: { resolve(keepMs: number): void; reject(error: Error): void }[] = []
  const shared = createSharedResults<number>(max, clock, (keepMs) => keepMs)
  const read = () => new Promise<number>((resolve, reject) => reads.push({ resolve, reject }))
  const get = (key: string) => shared.get(key, read)
  return { clock, reads, shared, get }
}

test('calls with one key share a read while it is under way, and those with another key do not', () => {
  const { clock, reads, get } = openShared()
  const first = get('a')
  clock.standStill(3_600_000)
  expect(get('a')).toBe(first)
  expect(get('b')).not.toBe(first)
  expect(reads).toHaveLength(2)
})

test.each([1000, 0])('a result is shared for %i ms from its end on', async (keepMs) => {
  const { clock, reads, shared, get } = openShared()
  const first = get('a')
  clock.standStill(5000)
  reads[0]?.resolve(keepMs)
  await first
  if (keepMs > 0) {
    clock.standStill(keepMs - 1)
    expect(get('a')).toBe(first)
    clock.standStill(1)
  }
  expect(shared.find('a')).toBeUndefined()
  expect(get('a')).not.toBe(first)
})

test('a failure goes to all who wait for it, and to no later call', async () => {
  const { reads, get } = openShared()
  const both = [get('a'), get('a')]
  reads[0]?.reject(new Error('down'))
  for (const result of both) await expect(result).rejects.toThrow('down')
  const next = get('a')
  reads[1]?.resolve(1)
  expect(await next).toBe(1)
})

test('a new key takes the place of the one that was asked for the longest ago', () => {
  const { shared, get } = openShared(2)
  for (const key of ['a', 'b', 'a', 'c']) get(key)
  expect(['a', 'b', 'c'].map((key) => shared.find(key) !== undefined)).toEqual([true, false, true])
})

test('a read whose place was taken leaves the next one of its key to its callers', async () => {
  const { reads, get } = openShared(1)
  const forgotten = get('a')
  get('b')
  const next = get('a')
  reads[0]?.reject(new Error('down'))
  await expect(forgotten).rejects.toThrow('down')
  expect(get('a')).toBe(next)
})

test('all are idle after those under way have ended, whether they fail or not', async () => {
  const { reads, shared, get } = openShared()
  const all = [get('a'), get('b')]
  let isIdle = false
  const idle = shared.idle().then(() => {
    isIdle = true
  })
  reads[0]?.reject(new Error('down'))
  await Promise.allSettled(all.slice(0, 1))
  expect(isIdle).toBe(false)
  reads[1]?.resolve(1)
  await idle
  expect(isIdle).toBe(true)
})
