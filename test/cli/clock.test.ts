import { expect, test } from 'vitest'
import { checkClockDrift } from '../../src/cli/doctor/check-clock.js'

const MINUTE = 60_000

test.each([
  ['ok', [3000, 10 * MINUTE], 'the latest block is of 3 s ago'],
  ['ok', [-15_000], 'the latest block is of 15 s from now'],
  ['warn', [-15_001, 10 * MINUTE], "15 s behind the chains' last block"],
  ['fail', [-6 * MINUTE], "6 min behind the chains' last block"],
  ['warn', [6 * MINUTE, 7 * MINUTE], "6 min ahead of every chain's last block"],
  ['warn', [], 'no chain has told its time'],
])('%s when the last blocks are %j ms old', (status, ages, text) => {
  const [checkResult, ...others] = checkClockDrift(ages)
  expect(others).toEqual([])
  expect(checkResult).toMatchObject({ status, checkResult: expect.stringContaining(text) })
  expect(checkResult?.remedy !== undefined).toBe(status !== 'ok')
})
