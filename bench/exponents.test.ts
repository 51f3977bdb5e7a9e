import { expect, test } from 'vitest'
import { exponent, exponentOf, withExponents } from './exponents.js'

const sizes = [1, 10, 100, 1000]
const grown = (k: number) => sizes.map((x) => ({ x, y: 3 * x ** k }))

test('the exponent of what grows with the square is 2, linearly 1, and not at all 0', () => {
  expect(exponent(grown(2))).toBeCloseTo(2)
  expect(exponent(grown(1))).toBeCloseTo(1)
  expect(exponent(grown(0))).toBeCloseTo(0)
  expect(exponent(grown(-0.5))).toBeCloseTo(-0.5)
})

test('the exponent of points that are on no curve is that of the best one', () => {
  const points = [
    { x: 1, y: 1 },
    { x: Math.E, y: Math.E ** 2 },
    { x: Math.E ** 2, y: Math.E },
  ]
  expect(exponent(points)).toBeCloseTo(0.5)
})

test('one point and values that are not positive have no exponent', () => {
  expect(exponent([{ x: 1, y: 1 }])).toBeNaN()
  expect(exponent([...grown(1), { x: 0, y: 1 }])).toBeNaN()
  expect(exponent([...grown(1), { x: 5, y: 0 }])).toBeNaN()
  expect(exponent([...grown(1), { x: 5, y: Number.NaN }])).toBeNaN()
})

test('each row but the first has the exponent from the row before', () => {
  const rows = [
    { clients: 10, ms: 5 },
    { clients: 100, ms: 50 },
    { clients: 1000, ms: 5000 },
  ]
  const [first, ...others] = withExponents(rows, 'clients', 'ms')
  expect(first).toEqual(rows[0])
  expect(others.map((row) => row.exponent)).toEqual([expect.closeTo(1), expect.closeTo(2)])
  expect(exponentOf(rows, 'clients', 'ms')).toBeCloseTo(1.5)
})
