import { expect, it } from 'vitest'
import { endingShortage } from '../../src/risk/ending-limits.js'

const GWEI = 1_000_000_000n
const means = {
  gas: { balance: 10n ** 18n, maxFeePerGas: 2n * GWEI },
  cancellationCost: 55_000n * 2n * GWEI,
  feesLeft: 5n * 10n ** 16n,
  roundSeconds: 13,
  atOnce: 16,
}
const load = { quotes: 1, payments: 1, fillSeconds: 60 }

/** The most for which nothing is missing. */
const most = (shortage: (count: number) => string | undefined) =>
  Array.from({ length: 1_000 }, (_, count) => count).findLast((count) => shortage(count) === undefined)

it('the rest of the budget must pay for the end of all that is open, also when fees double', () => {
  const open = (feesLeft: bigint) =>
    most((quotes) => endingShortage({ ...load, quotes }, { ...means, feesLeft }))
  expect([open(means.feesLeft), open(means.feesLeft / 10n)]).toEqual([227, 22])
  expect(endingShortage(load, { ...means, feesLeft: 0n })).toBe('FEES')
})

it('the account must pay for each payment as well', () => {
  const balanceOf = (balance: bigint) => ({ ...means, gas: { ...means.gas, balance } })
  const needed = 2n * GWEI * (3n * 520_000n + 2n * 55_000n)
  expect(endingShortage({ ...load, payments: 3 }, balanceOf(needed))).toBeUndefined()
  expect(endingShortage({ ...load, payments: 3 }, balanceOf(needed - 1n))).toBe('BALANCE')
})

it('one fill window must suffice for all, and its first block only shows that it has begun', () => {
  const within = (fillSeconds: number, roundSeconds = 13) =>
    most((payments) => endingShortage({ ...load, payments, fillSeconds }, { ...means, roundSeconds }))
  expect([within(60), within(120), within(60, 3)]).toEqual([48, 128, 304])
  expect(endingShortage({ ...load, fillSeconds: 25 }, means)).toBe('TIME')
})
