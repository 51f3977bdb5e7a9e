import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { createReadQueue } from '../../src/events/read-queue.js'

const READ_MS = 3

/** Blocks the event loop, like a read of SQLite. */
async function block(ms: number): Promise<void> {
  const end = performance.now() + ms
  while (performance.now() < end);
}

test('the queue rests for twice as long as the reads take', async () => {
  const rest = vi.fn(async () => {})
  const enqueue = createReadQueue(rest)
  const start = performance.now()
  await Promise.all([1, 2, 3, 4, 5].map(() => enqueue(() => block(READ_MS))))
  const tookMs = performance.now() - start
  const restMs = rest.mock.calls.flat().reduce((sum: number, ms: number) => sum + ms, 0)
  // After the last read, nothing waits.
  expect(restMs).toBeGreaterThan(2 * 4 * READ_MS * 0.99)
  expect(restMs).toBeLessThan(2 * tookMs)
})

test('the queue rests after several short reads', async () => {
  const rest = vi.fn(async () => {})
  const enqueue = createReadQueue(rest)
  for (let read = 0; read < 20; read++) await enqueue(() => block(0.1))
  expect(rest.mock.calls.length).toBeGreaterThan(1)
  expect(rest.mock.calls.length).toBeLessThan(20)
})

test('the queue rests for 100 ms at most after a read that waited for its database', async () => {
  const rest = vi.fn(async () => {})
  const enqueue = createReadQueue(rest)
  await enqueue(() => new Promise<void>((resolve) => setTimeout(resolve, 60)))
  await enqueue(async () => {})
  expect(rest.mock.calls).toEqual([[100]])
})

test('the queue continues after a read that fails, and begins one read in each turn', async () => {
  const enqueue = createReadQueue(async () => {})
  const failing = enqueue(async () => {
    throw new Error('the disk is full')
  })
  let begun = 0
  const others = [1, 2, 3].map((value) =>
    enqueue(async () => {
      begun++
      return value
    }),
  )
  await expect(failing).rejects.toThrow('the disk is full')
  expect(begun).toBe(0)
  await nextTurn()
  expect(begun).toBe(1)
  expect(await Promise.all(others)).toEqual([1, 2, 3])
})
