import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { shareRuns } from '../../src/http/share-runs.js'

/** An action that takes some time and returns the number of its run. */
function countedAction(durationMs: number) {
  let runs = 0
  return async () => {
    const run = ++runs
    await sleep(durationMs)
    return run
  }
}

test('calls during a run share the next one, which begins after them', async () => {
  const share = shareRuns(countedAction(20))
  const first = share()
  await sleep(5)
  expect(await Promise.all([first, share(), share(), share()])).toEqual([1, 2, 2, 2])
  expect(await share()).toBe(3)
})

test('runs take at most a fifth of the time', async () => {
  const share = shareRuns(countedAction(20))
  const startedAt = performance.now()
  for (let run = 1; run <= 4; run++) expect(await share()).toBe(run)
  expect(performance.now() - startedAt).toBeGreaterThan(3 * 5 * 20 * 0.9)
})

test('a run that fails fails only its own calls', async () => {
  const results = [Promise.reject(new Error('broken')), Promise.resolve('whole')]
  results[0]?.catch(() => {})
  const share = shareRuns(async () => results.shift())
  const first = [share(), share()]
  expect(await Promise.allSettled(first)).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }])
  expect(await share()).toBe('whole')
})
