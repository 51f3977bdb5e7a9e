import { expect, it, vi } from 'vitest'
import type { Order } from '../../../gen/aggregator/v1/order_pb.js'
import { only } from '../../../test/support/only.js'
import type { Attempt } from '../src/data/auction/auction.js'
import { isRisky, readReliabilities, saferAttempt, usualFillMs } from '../src/data/solvers/reliability.js'

await vi.hoisted(async () => (await import('./page-globals.js')).stubPage())

const SOLVER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
const OTHER = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'
const stats = { solver: SOLVER, settled: 3n, refunded: 1n }

it.each([
  [8n, 1n, true],
  [9n, 1n, false],
  [0n, 0n, false],
])('a solver that has paid %s orders and %s not is one to warn of: %s', (paid, refunded, expected) => {
  expect(isRisky({ paid, ended: paid + refunded })).toBe(expected)
})

it('beside the offer of a solver that leaves orders unpaid, the best one of another that pays is named', () => {
  const attempts = [SOLVER, OTHER].map((solver, index) => only<Attempt>({ solver, rank: index + 1 }))
  const known = (settled: bigint, others: bigint, refunded = 0n) =>
    readReliabilities([
      { ...stats, settled },
      { solver: OTHER, settled: others, refunded },
    ])
  expect(saferAttempt(attempts, known(3n, 2n))?.map(([{ solver }]) => solver)).toEqual([SOLVER, OTHER])
  expect(saferAttempt(attempts, known(3n, 0n))).toBeUndefined()
  expect(saferAttempt(attempts, known(3n, 2n), OTHER)).toBeUndefined()
  // Also beside one that pays nearly all: where the record has no gap, and is not a few orders.
  expect(saferAttempt(attempts, known(12n, 8n))?.map(([{ solver }]) => solver)).toEqual([SOLVER, OTHER])
  expect(saferAttempt(attempts, known(12n, 2n))).toBeUndefined()
  expect(saferAttempt(attempts, known(12n, 40n, 1n))).toBeUndefined()
})

it('the usual time to fill is the median of the orders that the solver has filled', () => {
  const order = (solver: string, seconds?: number) => {
    const settled = seconds === undefined ? undefined : { blockTime: 100n + BigInt(seconds) }
    return only<Order>({ solver, deposited: { blockTime: 100n }, settled })
  }
  const orders = [order(SOLVER, 9), order(SOLVER, 2), order(OTHER, 1), order(SOLVER), order(SOLVER, 4)]
  expect(usualFillMs(orders, SOLVER.toLowerCase())).toBe(4000)
  expect(usualFillMs([], SOLVER)).toBeUndefined()
})
