import { expect, it } from 'vitest'
import { createTimeAxis } from '../src/format/time-axis.js'

it('an axis ends a little after the latest answer, and a late one stands at its end', () => {
  const axis = createTimeAxis(40, 2000)
  expect(axis.place(40)).toBeCloseTo(1 / 1.15)
  expect([axis.place(0), axis.place(2000)]).toEqual([0, 1])
  expect(axis.ticks).toEqual([0, 20, 40])
})

it('an axis of slow answers ends with the deadline', () => {
  const axis = createTimeAxis(1900, 2000)
  expect([axis.place(1000), axis.ticks]).toEqual([0.5, [0, 500, 1000, 1500, 2000]])
})
