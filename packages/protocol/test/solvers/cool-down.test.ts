import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ListedOrder } from '../../src/orders/order.js'
import { hourChanges } from '../../src/orders/order-hours.js'
import { type CoolDown, firstHour, lastCoolDown, type RefundedOrder } from '../../src/solvers/cool-down.js'
import { hourOf } from '../../src/solvers/solver-statistics.js'
import type { Address, Hex } from '../../src/values/hex.js'

const HOUR = 3600
const DAY = 24 * HOUR
const START = 472_222 * HOUR
const SOLVER = '0x0c'

interface Life {
  readonly user: number
  /** Undefined for an order at a deposit address. */
  readonly depositedAt: number | undefined
  /** Undefined for an order that was not refunded. */
  readonly refundedAt: number | undefined
}

/** An order. Blocks have their times as numbers. @param index of the logs in their blocks */
function orderOf({ user, depositedAt, refundedAt }: Life, index: number): ListedOrder {
  const step = (time: number) => ({
    blockNumber: time,
    logIndex: index,
    transactionHash: '0x' as const,
    blockTime: START + time,
  })
  return {
    chainId: 1,
    orderId: `0x${index}` as Hex,
    state: refundedAt === undefined ? 'DEPOSITED' : 'REFUNDED',
    user: `0x${user}` as Address,
    solver: SOLVER,
    terms: undefined,
    steps: {
      ...(depositedAt !== undefined && { deposited: step(depositedAt) }),
      ...(refundedAt !== undefined && { refunded: step(refundedAt) }),
    },
  }
}

function ofOrders(orders: readonly ListedOrder[], seconds: number): CoolDown | undefined {
  const refunded: RefundedOrder[] = orders.filter(({ steps }) => steps.refunded !== undefined)
  const since = firstHour(refunded)
  const hours = hourChanges([], orders).filter(({ hour }) => since !== undefined && hour >= since)
  return lastCoolDown(refunded, hours, seconds)
}

const of = (lives: readonly Life[], seconds = HOUR) => ofOrders(lives.map(orderOf), seconds)
const refund = (user: number, depositedAt: number | undefined, refundedAt: number): Life => ({
  user,
  depositedAt,
  refundedAt,
})
const deposits = (count: number, depositedAt: number): Life[] =>
  Array.from({ length: count }, () => ({ user: 9, depositedAt, refundedAt: undefined }))
const until = (time: number, level = 1) => ({ until: 1000 * (START + time), level })

/** The refunds of two users that trigger a cool-down of an hour at the time 200. */
const TWO = [refund(1, 0, 100), refund(2, 0, 200)]

describe('a cool-down', () => {
  test('begins with the refund of the second user', () => {
    expect(of(TWO)).toEqual(until(200 + HOUR))
  })

  test('does not begin with refunds of one user, or at deposit addresses', () => {
    expect(of([refund(1, 0, 100), refund(1, 0, 200)])).toBeUndefined()
    expect(of([refund(1, 0, 100), refund(2, undefined, 200)])).toBeUndefined()
  })

  test('needs 20% of the orders of the hours that overlap the day', () => {
    expect(of([...TWO, ...deposits(8, 0)])).toEqual(until(200 + HOUR))
    expect(of([...TWO, ...deposits(9, 0)])).toBeUndefined()
    expect(of([...TWO, ...deposits(8, 0), ...deposits(1, HOUR - 1)])).toBeUndefined()
    expect(of([...TWO, ...deposits(8, 0), ...deposits(1, HOUR)])).toEqual(until(200 + HOUR))
    expect(of([...TWO, ...deposits(8, 0), ...deposits(1, -DAY)])).toBeUndefined()
    expect(of([...TWO, ...deposits(8, 0), ...deposits(1, -DAY - 1)])).toEqual(until(200 + HOUR))
  })

  test('needs refunds within 24 hours, of which the first second is outside', () => {
    expect(of([refund(1, 0, 100), refund(2, 0, 100 + DAY)])).toBeUndefined()
    expect(of([refund(1, 0, 100), refund(2, 0, 99 + DAY)])).toEqual(until(99 + DAY + HOUR))
  })

  test('is followed by another one only after a deposit after its end', () => {
    const end = 200 + HOUR
    expect(of([...TWO, refund(3, end, end + 50)])).toEqual(until(end))
    expect(of([...TWO, refund(3, end + 1, end + 50)])).toEqual(until(end + 50 + 2 * HOUR, 2))
  })

  test('is followed by none when the condition does not hold any more', () => {
    const end = 200 + HOUR
    expect(of([...TWO, refund(3, end + 1, end + 50), ...deposits(13, end + 2)])).toEqual(until(end))
  })

  test('lasts twice as long each time, at most 8 hours, and begins again after a day', () => {
    const lives = [...TWO]
    let end = 200 + HOUR
    const ends: (CoolDown | undefined)[] = []
    for (const level of [2, 3, 4, 5]) {
      lives.push(refund(level, end + 1, end + 2))
      end += 2 + HOUR * Math.min(2 ** (level - 1), 8)
      ends.push(of(lives))
      expect(ends.at(-1)).toEqual(until(end, level))
    }
    // Two hours of one user are left of the day before.
    const again = end + DAY
    expect(of([...lives, refund(1, again - 1, again - 1), refund(2, again, again)])).toEqual(
      until(again + HOUR),
    )
    expect(of([...lives, refund(1, again - 1, again - 1), refund(2, again - 1, again - 1)])).toEqual(
      until(again - 1 + 8 * HOUR, 6),
    )
  })

  test('does not begin with a late refund of a deposit before the end of the last one', () => {
    const late = 200 + HOUR + DAY
    expect(of([...TWO, refund(1, 300, late), refund(2, 300, late)])).toEqual(until(200 + HOUR))
  })

  test('follows from the seven days before the newest refund', () => {
    const week = 7 * DAY
    expect(of([...TWO, refund(1, week, 99 + week)])).toEqual(until(200 + HOUR))
    // The refund of the first user has left them.
    expect(of([...TWO, refund(1, week, 100 + week)])).toBeUndefined()
  })
})

/** The same from the words of docs/decisions.md, D20, without any thought of time. */
function slowly(lives: readonly Life[], seconds: number): CoolDown | undefined {
  const counted = lives
    .map((life, index) => ({ ...life, index }))
    .filter(({ depositedAt, refundedAt }) => depositedAt !== undefined && refundedAt !== undefined)
    .map((life) => life as { user: number; depositedAt: number; refundedAt: number; index: number })
    .sort((one, other) => one.refundedAt - other.refundedAt || one.index - other.index)
  const newest = Math.max(...counted.map(({ refundedAt }) => refundedAt))
  const refunds = counted.filter(({ refundedAt }) => refundedAt > newest - 7 * DAY)
  const ends: number[] = []
  let level = 0
  for (let index = 0; index < refunds.length; index++) {
    const { depositedAt, refundedAt } = refunds[index] as (typeof refunds)[0]
    const day = refunds.slice(0, index + 1).filter((refund) => refund.refundedAt > refundedAt - DAY)
    const orders = lives.filter((life) => {
      const first = life.depositedAt ?? life.refundedAt ?? 0
      return (
        hourOf(START + first) >= hourOf(START + refundedAt - DAY) &&
        hourOf(START + first) <= hourOf(START + refundedAt)
      )
    })
    if (new Set(day.map(({ user }) => user)).size < 2) continue
    if (day.length / orders.length < 0.2) continue
    if (ends.some((end) => depositedAt <= end)) continue
    const last = ends.at(-1)
    level = last === undefined || refundedAt >= last + DAY ? 1 : level + 1
    let length = seconds
    for (let doubled = 1; doubled < level; doubled++) length = Math.min(2 * length, 8 * HOUR)
    ends.push(refundedAt + length)
  }
  const end = ends.at(-1)
  return end === undefined ? undefined : { until: 1000 * (START + end), level }
}

/** Times that often meet: whole parts of hours, and seconds around them. */
const time = fc
  .tuple(fc.integer({ min: 0, max: 9 * 24 * 2 }), fc.integer({ min: -1, max: 1 }))
  .map(([halfHours, seconds]) => (halfHours * HOUR) / 2 + seconds)
const life = fc
  .record({
    user: fc.integer({ min: 1, max: 3 }),
    firstAt: time,
    isDeposited: fc.integer({ min: 0, max: 5 }).map((number) => number > 0),
    refundedAfter: fc.option(
      fc.oneof(
        fc.integer({ min: 0, max: 5 }),
        fc.integer({ min: 0, max: 48 }).map((hours) => hours * HOUR),
      ),
      { nil: undefined },
    ),
  })
  .map(
    ({ user, firstAt, isDeposited, refundedAfter }): Life => ({
      user,
      depositedAt: isDeposited || refundedAfter === undefined ? firstAt : undefined,
      refundedAt: refundedAfter === undefined ? undefined : firstAt + refundedAfter,
    }),
  )

test('the cool-down of any orders, in any order, is that of a slow model', () => {
  let coolDowns = 0
  let doubled = 0
  fc.assert(
    fc.property(
      fc.array(life, { maxLength: 60, size: 'max' }),
      fc.constantFrom(1, HOUR / 2, HOUR, 8 * HOUR),
      fc.boolean(),
      (lives, seconds, isReversed) => {
        const orders = lives.map(orderOf)
        const expected = slowly(lives, seconds)
        expect(ofOrders(isReversed ? orders.toReversed() : orders, seconds)).toEqual(expected)
        if (expected !== undefined) coolDowns++
        if ((expected?.level ?? 0) > 2) doubled++
      },
    ),
    { numRuns: 2000, seed: 20_261_123 },
  )
  expect([coolDowns > 500, doubled > 50], `${coolDowns} and ${doubled}`).toEqual([true, true])
})
