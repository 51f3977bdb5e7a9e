import type { Row } from './benchmark.js'
import { slope } from './load.js'

/**
 * The exponent k of y ~ x^k: the slope in a plot with two logarithmic axes, by least squares. 1 is linear. NaN when there are
 * fewer than two points, or when a value is not positive.
 */
export function exponent(points: readonly { readonly x: number; readonly y: number }[]): number {
  if (points.length < 2 || points.some(({ x, y }) => !(x > 0 && y > 0))) return Number.NaN
  return slope(points.map(({ x, y }) => ({ x: Math.log(x), y: Math.log(y) })))
}

/**
 * Adds to each row the exponent of a figure from the row before. The first row has none.
 * @param size the column of what grows
 */
export function withExponents(rows: readonly Row[], size: string, figure: string): Row[] {
  return rows.map((row, index) => {
    const before = rows[index - 1]
    if (before === undefined) return row
    return { ...row, exponent: exponentOf([before, row], size, figure) }
  })
}

/** The exponent of a figure over all rows. */
export function exponentOf(rows: readonly Row[], size: string, figure: string): number {
  return exponent(rows.map((row) => ({ x: Number(row[size]), y: Number(row[figure]) })))
}
