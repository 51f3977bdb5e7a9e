import { expect, it } from 'vitest'
import { createAmountAxis } from '../src/format/amount-axis.js'

it('equal distances are equal heights, and the axis ends at a round number', () => {
  const { place, ticks } = createAmountAxis([0, -7, -25])
  expect(ticks).toEqual([0, -10, -20, -30])
  expect([0, -7, -14, -25].map((bps) => place(bps))).toEqual([0, 7 / 30, 14 / 30, 25 / 30])
})

it('an offer far off has no place on the axis of the others', () => {
  const { place } = createAmountAxis([0, -2, -7, -2500])
  expect(place(-7)).toBeLessThanOrEqual(1)
  expect(place(-2500)).toBeUndefined()
})

it('two offers are on one axis, however far they are from each other', () => {
  expect(createAmountAxis([0, -2500]).place(-2500)).toBeLessThanOrEqual(1)
})

it('equal offers and a single one are the best', () => {
  for (const differences of [[0], [0, 0]]) {
    const { place, ticks } = createAmountAxis(differences)
    expect([place(0), ticks]).toEqual([0, [0]])
  }
  expect(createAmountAxis([]).ticks).toEqual([])
})
