import { expect, it } from 'vitest'
import { createTimeAxis } from '../src/format/time-axis.js'

it('an axis of fast answers shows them in detail, and jumps to the deadline', () => {
  const axis = createTimeAxis(14, 2000)
  expect(axis.isBroken).toBe(true)
  expect(axis.place(0)).toBe(0)
  expect(axis.place(14)).toBeGreaterThan(0.6)
  expect(axis.place(14)).toBeLessThan(0.86)
  expect(axis.place(2000)).toBe(1)
  expect(axis.ticks).toEqual([0, 5, 10, 15])
})

it('an axis of slow answers is whole', () => {
  const axis = createTimeAxis(1500, 2000)
  expect(axis.isBroken).toBe(false)
  expect(axis.place(1000)).toBe(0.5)
  expect(axis.place(5000)).toBe(1)
})

it.each([0, 3, 99, 480, 1999])('an axis to %s ms has two to six labelled times', (last) => {
  const { ticks } = createTimeAxis(last, 2000)
  expect(ticks.length).toBeGreaterThanOrEqual(2)
  expect(ticks.length).toBeLessThanOrEqual(6)
})
