import { expect, it } from 'vitest'
import { only } from '../../../../test/support/only.js'
import { createEndingPause } from '../../src/ending/ending-pause.js'

const GWEI = 1_000_000_000n
const CANCELLATION_COST = 55_000n * 2n * GWEI
const MEANS = {
  balance: 10n ** 18n,
  feesLeft: 5n * 10n ** 16n,
  fillSeconds: 60,
  blockSeconds: 12,
  callSeconds: 0,
  callsPerSecond: Number.POSITIVE_INFINITY,
  lagSeconds: 0,
  paymentSeconds: 0,
  isCapped: false,
  isBlind: false,
  isStale: false,
  hasMissed: false,
  areAddressesDeclined: false,
}

/** What keeps a further quote from being signed. @param open quotes @param orders that have a deposit */
function pauseOf(
  open: number,
  orders: number,
  change: Partial<typeof MEANS> = {},
  isForAddress = false,
): string | undefined {
  const { balance, feesLeft, fillSeconds, blockSeconds, ...means } = { ...MEANS, ...change }
  const { callSeconds, callsPerSecond, lagSeconds, paymentSeconds, isCapped } = means
  const times = { depositDeadline: 1_000, fillDeadline: 1_000 + fillSeconds }
  const entry = { quote: times, isForAddress: false, deposit: 'NONE' }
  const parts = {
    chain: {
      pollIntervalMs: 1_000,
      maxPayments: 16,
      callsPerSecond: () => callsPerSecond,
    },
    time: {
      blockSeconds: () => blockSeconds,
      lookSeconds: () => 2 * callSeconds,
      lagSeconds: () => lagSeconds,
      isBlind: () => means.isBlind,
      isStale: () => means.isStale,
    },
    ledger: {
      holdings: () => ({ gas: { balance, maxFeePerGas: 2n * GWEI, isCapped } }),
      quotes: () => Array.from({ length: orders }, () => ({ ...entry, deposit: 'CONTRACT' })),
    },
    losses: {
      hasMissed: () => means.hasMissed,
      areAddressesDeclined: () => means.areAddressesDeclined,
    },
    addresses: { keepsTokens: () => false },
    payments: { roundSeconds: () => paymentSeconds },
    report() {},
  }
  const toCancel = () => Array.from({ length: open }, () => entry)
  const budget = { left: () => feesLeft }
  const pause = createEndingPause(
    only(parts),
    only(toCancel),
    only({ cost: () => CANCELLATION_COST, budget }),
  )
  return pause(only({ ...times, isForAddress }))
}

it.each([
  ['isBlind', 'the node does not answer'],
  ['isStale', 'the newest block is old'],
  ['hasMissed', 'missed orders in the output token have cost too much, or were of this user'],
  ['isCapped', 'maxFeePerGas is below what a transaction needs'],
])('nothing is signed while %s is true', (what, why) => {
  expect(pauseOf(0, 0, { [what]: true })).toContain(why)
})

it('after a slash of a deposit address, only quotes for such are declined', () => {
  const change = { areAddressesDeclined: true }
  expect([pauseOf(0, 0, change), pauseOf(0, 0, change, true)]).toEqual([
    undefined,
    'a deposit address has cost a part of the bond',
  ])
})

/** The most quotes, with the one that is asked for, for which nothing is missing. */
const most = (change: Partial<typeof MEANS>) =>
  Array.from({ length: 400 }, (_, open) => open).findLast(
    (open) => pauseOf(open, 0, change) === undefined,
  ) as number

it('the rest of the budget must pay for the end of all that is open, also when fees double', () => {
  const long = { fillSeconds: 3_000 }
  expect([most(long), most({ ...long, feesLeft: MEANS.feesLeft / 10n })]).toEqual([226, 21])
  expect(pauseOf(0, 0, { feesLeft: 0n })).toContain('maxCancelFees')
})

it('the account must pay for each payment as well', () => {
  const needed = 2n * GWEI * 3n * 520_000n + 2n * CANCELLATION_COST
  expect(pauseOf(0, 2, { balance: needed })).toBeUndefined()
  expect(pauseOf(0, 2, { balance: needed - 1n })).toContain('too little for the gas')
})

it('one fill window must suffice for all, and its first block only shows that it has begun', () => {
  const rich = { balance: 10n ** 24n, feesLeft: 10n ** 24n }
  const counts = [
    most(rich),
    most({ ...rich, fillSeconds: 120 }),
    most({ ...rich, blockSeconds: 2 }),
    most({ ...rich, blockSeconds: 2, callSeconds: 0.3 }),
    most({ ...rich, blockSeconds: 2, callsPerSecond: 50 }),
    most({ ...rich, blockSeconds: 2, lagSeconds: 4 }),
    most({ ...rich, blockSeconds: 2, paymentSeconds: 10 }),
  ]
  expect(counts.map((count) => count + 1)).toEqual([48, 128, 304, 176, 160, 112, 80])
  expect(pauseOf(0, 0, { fillSeconds: 25 })).toContain('fill window')
})
