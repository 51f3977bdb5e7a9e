import { expect, test } from 'vitest'
import { coalesce } from '../../src/concurrency/coalesce.js'
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

test('the first call starts the work at once', () => {
  const { runs, work } = heldWork()
  void coalesce(work)()
  expect(runs).toHaveLength(1)
})

test('calls during a run share the next run, which begins after it', async () => {
  const { runs, work } = heldWork()
  const run = coalesce(work)
  const first = run()
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
