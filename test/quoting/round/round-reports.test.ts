import { describe, expect, test } from 'vitest'
import type { SignedQuote } from '../../../packages/protocol/src/quotes/quote.js'
import type { SolverResult } from '../../../packages/protocol/src/solvers/solver-result.js'
import { countAnswered, type RoundCounts, RoundProgress } from '../../../src/quoting/round/round-reports.js'
import { signed } from '../records/sample-trace.js'

function openProgress(asked: number) {
  const heard: { offer: SignedQuote; counts: RoundCounts }[] = []
  const progress = new RoundProgress(asked, (offer, counts) => heard.push({ offer, counts }))
  const add = (result: SolverResult, now = 0) => progress.add({ solver: '0x', result, tookMs: 1 }, now)
  const offer = (number: number, output: bigint, now = 0) =>
    add({ kind: 'quoted', offer: signed(number, output) }, now)
  return { progress, heard, add, offer }
}

describe('the best offer of a round', () => {
  test('is reported when it comes and when a better one comes', () => {
    const { heard, offer } = openProgress(4)
    for (const [index, output] of [5n, 4n, 7n, 6n].entries()) offer(index, output)
    expect(heard.map((item) => item.offer.quote.outputAmount)).toEqual([5n, 7n])
  })

  test('stays the first one of equal offers, as in the ranking', () => {
    const { heard, offer } = openProgress(2)
    offer(1, 5n)
    offer(2, 5n)
    expect(heard.map((item) => Number(item.offer.quote.solver))).toEqual([1])
  })

  test('is reported with the counts of that moment', () => {
    const { heard, offer, add } = openProgress(4)
    add({ kind: 'declined', status: 422 })
    offer(1, 5n)
    add({ kind: 'late' })
    offer(2, 6n)
    expect(heard.map(({ counts }) => [counts.asked, countAnswered(counts)])).toEqual([
      [4, 2],
      [4, 4],
    ])
  })

  test('is replaced when it has a mark or was dropped, once', () => {
    const { progress, heard, offer } = openProgress(2)
    offer(1, 5n)
    const [best] = heard
    const marked = { ...signed(1, 5n), verified: true } as const
    progress.replaceBest(best?.offer ?? marked)
    progress.replaceBest(marked)
    progress.drop()
    progress.replaceBest(signed(2, 4n))
    expect(heard.slice(1)).toMatchObject([
      { offer: marked, counts: { quoted: 1, invalid: 0 } },
      { offer: signed(2, 4n), counts: { quoted: 0, invalid: 1 } },
    ])
  })

  test('has the time at which it came', () => {
    const { progress, offer, add } = openProgress(4)
    expect(progress.bestAt).toBeUndefined()
    offer(1, 5n, 10)
    offer(2, 4n, 20)
    add({ kind: 'late' }, 30)
    expect(progress.bestAt).toBe(10)
    offer(3, 6n, 40)
    expect(progress.bestAt).toBe(40)
  })
})
