import { expect, test } from 'vitest'
import { coalesce, createSerialQueue } from '../../src/concurrency/one-at-a-time.js'
import { deferred } from '../support/deferred.js'

const nextTurn = () => new Promise(setImmediate)

/** Work whose runs end when the test lets them. */
function heldWork() {
  const runs: ReturnType<typeof deferred>[] = []
  async function work(): Promise<void> {
    const run = deferred()
    runs.push(run)
    await run.opened
  }
  return { runs, work }
}

test('the first call runs at once, and calls during a run share the next run, which begins after it', async () => {
  const { runs, work } = heldWork()
  const run = coalesce(work)
  const first = run()
  expect(runs).toHaveLength(1)
  const second = run()
  expect(run()).toBe(second)
  await nextTurn()
  expect(runs).toHaveLength(1)

  runs[0]?.open()
  await first
  await nextTurn()
  expect(runs).toHaveLength(2)

  const third = run()
  expect(third).not.toBe(second)
  runs[1]?.open()
  await second
  await nextTurn()
  runs[2]?.open()
  await third
  expect(runs).toHaveLength(3)
})

test('a run that fails rejects its own calls only', async () => {
  let runs = 0
  const run = coalesce(async () => {
    if (++runs === 1) throw new Error('the database is down')
  })
  const [first, second] = [run(), run()]
  await expect(first).rejects.toThrow('the database is down')
  await second
  await run()
  expect(runs).toBe(3)
})

test('a call at the end of a run shares the run that waits, so that no two run at once', async () => {
  let running = 0
  let most = 0
  const run = coalesce(async () => {
    most = Math.max(most, ++running)
    await nextTurn()
    running--
  })
  const first = run().then(() => run())
  await Promise.all([first, run()])
  expect(most).toBe(1)
})

test('a serial queue starts work only when the work before it has ended', async () => {
  const queue = createSerialQueue()
  const { opened, open } = deferred()
  const steps: string[] = []
  const results = [
    queue.run(async () => {
      steps.push('first begins')
      await opened
      steps.push('first ends')
      return 1
    }),
    queue.run(() => {
      steps.push('second begins')
      return 2
    }),
  ]
  await nextTurn()
  expect(steps).toEqual(['first begins'])

  open()
  expect(await Promise.all(results)).toEqual([1, 2])
  expect(steps).toEqual(['first begins', 'first ends', 'second begins'])
})

test('a serial queue continues after work that fails', async () => {
  const queue = createSerialQueue()
  const failed = queue.run(() => Promise.reject(new Error('the disk is full')))
  const next = queue.run(() => 'written')
  await expect(failed).rejects.toThrow('the disk is full')
  expect(await next).toBe('written')
})

test('a serial queue is idle when its last work has ended, also when that fails', async () => {
  const queue = createSerialQueue()
  const { opened, open } = deferred()
  let isIdle = false
  const failed = queue.run(() => opened.then(() => Promise.reject(new Error('the disk is full'))))
  const idle = queue.idle().then(() => {
    isIdle = true
  })
  await nextTurn()
  expect(isIdle).toBe(false)

  open()
  await expect(failed).rejects.toThrow('the disk is full')
  await idle
})

test('work of one key runs in the order of the calls, and does not wait for other keys', async () => {
  const queue = createSerialQueue()
  const [first, started] = [deferred(), deferred()]
  const ran: string[] = []
  const one = queue.run(async () => {
    started.open()
    await first.opened
    ran.push('a1')
  }, 'a')
  const two = queue.run(() => void ran.push('a2'), 'a')
  await started.opened
  expect(await queue.run(() => ran.push('b'), 'b')).toBe(1)
  first.open()
  await Promise.all([one, two])
  expect(ran).toEqual(['b', 'a1', 'a2'])
})
