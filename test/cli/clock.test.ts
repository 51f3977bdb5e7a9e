import { expect, test } from 'vitest'
import { judgeClock } from '../../src/cli/doctor/check-clock.js'

const MINUTE = 60_000

test.each([
  ['ok', [3000, 10 * MINUTE], 'the latest block is of 3 s ago'],
  ['ok', [-15_000], 'the latest block is of 15 s from now'],
  ['warn', [-15_001, 10 * MINUTE], "15 s behind the chains' last block"],
  ['fail', [-6 * MINUTE], "6 min behind the chains' last block"],
  ['warn', [6 * MINUTE, 7 * MINUTE], "6 min ahead of every chain's last block"],
  ['warn', [], 'no chain has told its time'],
])('%s when the last blocks are %j ms old', (status, ages, text) => {
  const [finding, ...others] = judgeClock(ages)
  expect(others).toEqual([])
  expect(finding).toMatchObject({ status, finding: expect.stringContaining(text) })
  expect(finding?.cure !== undefined).toBe(status !== 'ok')
})
