import { describe, expect, test } from 'vitest'
import { roundAt } from './rounds.js'

describe('in a round', () => {
  test.each([
    [1, 1],
    [2, 1],
    [3, 1],
    [4, 2],
    [10, 5],
    [50, 25],
  ])('with %i solvers, half of the other solvers are %i', (size, enough) => {
    const round = roundAt(0)
    round.begin(size)
    for (let answer = 1; answer < enough; answer++) round.recordQuote(1, answer)
    expect(round.answeredAt).toBeUndefined()
    round.recordQuote(1, 100)
    round.recordQuote(1, 200)
    expect(round.answeredAt).toBe(100)
  })
})
