import { describe, expect, test } from 'vitest'
import {
  freeBondOf,
  isBondSufficient,
  solverLimitReached,
  TIMESTAMP_TOLERANCE_MS,
  timestampReused,
} from '../../src/solvers/solver.js'

const MINIMUM = 1_000_000_000n

describe('a bond', () => {
  test.each([
    ['exactly the minimum', MINIMUM, 0n, true],
    ['more than the minimum', MINIMUM + 1n, 0n, true],
    ['one less than the minimum', MINIMUM - 1n, 0n, false],
    ['nothing', 0n, 0n, false],
    ['the minimum in addition to the part being unstaked', 2n * MINIMUM, MINIMUM, true],
    ['less than the minimum in addition to the part being unstaked', 2n * MINIMUM, MINIMUM + 1n, false],
    ['all of it being unstaked', MINIMUM, MINIMUM, false],
  ])('of %s suffices: %s', (_what, total, unstaking, isSufficient) => {
    expect(isBondSufficient({ registered: true, total, reserved: 0n, unstaking }, MINIMUM)).toBe(isSufficient)
  })

  test('does not suffice when its solver is not registered on the contract', () => {
    expect(
      isBondSufficient({ registered: false, total: 2n * MINIMUM, reserved: 0n, unstaking: 0n }, MINIMUM),
    ).toBe(false)
  })

  test('of 0 suffices for a registered solver when the minimum is 0', () => {
    expect(isBondSufficient({ registered: true, total: 0n, reserved: 0n, unstaking: 0n }, 0n)).toBe(true)
  })
})

test.each([
  ['all of it', { total: 100n, reserved: 0n, unstaking: 0n }, 100n],
  ['what is neither reserved nor unstaking', { total: 100n, reserved: 30n, unstaking: 60n }, 10n],
  ['nothing where a slash left less than is unstaking', { total: 50n, reserved: 0n, unstaking: 60n }, 0n],
])('the free bond is %s', (_what, bond, free) => {
  expect(freeBondOf({ registered: true, ...bond })).toBe(free)
})

test('a timestamp may be 5 minutes from the clock', () => {
  expect(TIMESTAMP_TOLERANCE_MS).toBe(300_000)
})

test('the error for a reused timestamp has the last accepted one', () => {
  expect(timestampReused(1_800_000_000_123)).toMatchObject({
    reason: 'TIMESTAMP_REUSED',
    httpStatus: 401,
    message: 'The timestamp must be newer than the last accepted one, 1800000000123.',
  })
})

test('the error for a full chain has the limit', () => {
  expect(solverLimitReached(50)).toMatchObject({
    reason: 'SOLVER_LIMIT_REACHED',
    httpStatus: 400,
    message: 'This chain has its 50 solvers already, and none can be replaced now.',
  })
})
