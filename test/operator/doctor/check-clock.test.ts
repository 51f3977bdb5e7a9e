import { expect, test } from 'vitest'
import { checkClockDrift } from '../../../src/operator/doctor/check-clock.js'

const MINUTE = 60_000

test.each([
  ['ok', [3000, 10 * MINUTE], 'the time of the latest block is 3 s ago'],
  ['ok', [-15_000], 'the time of the latest block is 15 s from now'],
  ['fail', [-6 * MINUTE], "6 min earlier than the chains' last block"],
  ['warn', [6 * MINUTE, 7 * MINUTE], "6 min later than every chain's last block"],
  ['warn', [], 'no chain has returned a block'],
])('%s when the last blocks are %j ms old', (status, ages, text) => {
  const [checkResult, ...others] = checkClockDrift(ages)
  expect(others).toEqual([])
  expect(checkResult).toMatchObject({ status, checkResult: expect.stringContaining(text) })
  expect(checkResult?.remedy !== undefined).toBe(status !== 'ok')
})
