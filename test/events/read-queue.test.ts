import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { systemClock } from '../../packages/protocol/src/clock.js'
import { THIS_PROCESS } from '../../src/clients/client-id.js'
import { ReadQueue } from '../../src/events/read-queue.js'

/** A queue on a clock whose time passes in reads only, and the rests that it has made. */
function createQueue() {
  let nowMs = 0
  const rests: number[] = []
  const queue = new ReadQueue({
    ...systemClock,
    monotonic: () => nowMs,
    sleep: async (ms) => void rests.push(ms),
  })
  const enqueue = <T>(read: () => Promise<T>) => queue.add(THIS_PROCESS, read).answer
  const read = (tookMs: number) =>
    enqueue(async () => {
      nowMs += tookMs
    })
  return { queue, enqueue, read, rests }
}

test('the queue rests for twice as long as each read took, but not after the last one', async () => {
  const { read, rests } = createQueue()
  await Promise.all([read(3), read(5), read(7)])
  expect(rests).toEqual([6, 10])
})

test('reads that need the database no more take no turns of their own', async () => {
  const { queue, read, rests } = createQueue()
  let isKnown = false
  const first = read(3)
  const others = [1, 2, 3].map(
    (value) =>
      queue.add(
        THIS_PROCESS,
        async () => value,
        () => isKnown,
      ).answer,
  )
  const answered: number[] = []
  for (const answer of others) void answer.then((value) => answered.push(value))
  isKnown = true
  await first
  for (const _ of [1, 2]) await nextTurn()
  expect(answered).toEqual([1, 2, 3])
  expect(rests).toEqual([6])
})

test('the queue rests after several short reads', async () => {
  const { read, rests } = createQueue()
  for (let count = 0; count < 10; count++) await read(0.25)
  expect(rests).toEqual([1, 1, 1, 1])
})

test('the queue rests for 100 ms at most after a read that waited for its database', async () => {
  const { read, rests } = createQueue()
  await read(60)
  await read(0)
  expect(rests).toEqual([100])
})

test('the queue continues after a read that fails, and begins one read in each turn', async () => {
  const { enqueue } = createQueue()
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
