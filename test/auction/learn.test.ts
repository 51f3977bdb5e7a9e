import { beforeEach, describe, expect, test } from 'vitest'
import { learn, type ReadAnswer } from '../../src/auction/lessons-of-round.js'
import { Pairs } from '../../src/standing/pair.js'
import { solver } from '../solvers/sample-solver.js'

const client = { network: '192.0.2.1' }
const { address } = solver(1)

let pairs: Pairs

beforeEach(() => {
  pairs = new Pairs()
})

/** An offer in time that was as good as the best one, with changes. */
function answer(changes: Partial<ReadAnswer> = {}): ReadAnswer {
  const usual = { outcome: 'offer', isInTime: true, isQuick: true, gap: 0, gain: 0 } as const
  return { solver: address, wasWaitedFor: false, ...usual, ...changes }
}

/** A round of the client that ended with these answers. The best one before its answer had the rate. */
function playAt(rate: number, now: number, ...answers: readonly ReadAnswer[]): void {
  const open = pairs.open('pair', client, rate, undefined, now)
  for (const each of answers) learn(open, each, (1 - rate) * 10_000, now)
}

const play = (now: number, ...answers: readonly ReadAnswer[]) => playAt(1, now, ...answers)

/** The gap and the worth of one lesson, or undefined without a lesson. */
function lessonOf(changes: Partial<ReadAnswer>) {
  for (const now of [0, 20_000]) play(now, answer(changes))
  const lessons = pairs.of('pair')?.of(address)
  return lessons?.gaps.median !== undefined ? [lessons.gaps.median, lessons.isWorthWaiting] : undefined
}

describe('a lesson', () => {
  test.each<[string, Partial<ReadAnswer>, unknown]>([
    ['an offer', { gap: 12.34 }, [12.34, false]],
    ['an offer that was better after the answer', { gap: -50, isInTime: false }, [0, false]],
    ['a very bad offer', { gap: 1e9 }, [10_000, false]],
    ['an offer after the answer that is no better', { gap: 7, isInTime: false }, [7, false]],
    ['what says nothing of the solver', { outcome: 'unknown' }, undefined],
    ['an offer after the soft deadline, better by 1', { gain: 1 }, [0, true]],
    ['one that is better by less', { gain: 0.99 }, [0, false]],
    ['one after the answer, better by 1', { gain: 1, gap: -1, isInTime: false }, [0, true]],
    [
      'one after the answer that the round had waited for',
      { gain: 50, gap: -50, isInTime: false, wasWaitedFor: true },
      [10_000, false],
    ],
    ['one in time that it had waited for', { gain: 50, wasWaitedFor: true }, [0, true]],
  ])('of %s', (_what, changes, lesson) => {
    expect(lessonOf(changes)).toEqual(lesson)
  })

  test.each<[string, Partial<ReadAnswer>, unknown]>([
    ['an offer', { gap: 12.34 }, 12.34],
    ['no offer', { outcome: 'none' }, 10_000],
    ['an offer that came too late for a round that waited', { isInTime: false, wasWaitedFor: true }, 10_000],
    ['an offer after the answer, which is free', { isInTime: false, gap: 7 }, undefined],
    ['what says nothing of the solver', { outcome: 'unknown' }, undefined],
  ])('of the client itself is given in each of its rounds: of %s', (_what, changes, gap) => {
    for (const now of [0, 1]) play(now, answer({ solver: solver(2).address }), answer(changes))
    const medianGap = pairs.of('pair')?.ownAnswers(client, 1)?.gapsOf(address)?.median
    expect(medianGap).toBe(gap)
  })

  test('is given only when the client may teach the pair, but an offer is known to be made', () => {
    play(0, answer({ gap: 1 }))
    play(1, answer({ gap: 99, solver: solver(2).address }), answer({ gap: 99 }))
    const pair = pairs.of('pair')
    expect(pair?.of(address)?.gaps.median).toBe(1)
    expect(pair?.of(solver(2).address)?.gaps.median).toBeUndefined()
    expect(pair?.of(solver(2).address)?.hasQuoted(1)).toBe(true)
  })

  test.each<[string, number, number, Partial<ReadAnswer>, number]>([
    ['of a better offer after junk', 0.5, 40_000, {}, 150],
    ['of one after an answer that was worse than usual by less', 1 - 2 ** -6, 40_000, { gain: 999 }, 157],
    ['of one in a round that teaches nothing', 0.5, 21_000, {}, 150],
    ['of one after an answer that was as usual', 1, 40_000, {}, 0],
    ['of one that came too late for a round that waited', 0.5, 40_000, { wasWaitedFor: true }, 0],
  ])('%s is worth waits, as many as the basis points that were lost', (_what, rate, now, changes, waits) => {
    const slow = { isQuick: false, isInTime: false, gap: -150, gain: 150, ...changes }
    for (const before of [0, 20_000]) play(before, answer())
    playAt(rate, now, answer(slow))
    let waited = 0
    for (; pairs.of('pair')?.of(address)?.isOwed; waited++)
      play(60_000 + 20_000 * waited, answer({ isQuick: false, wasWaitedFor: true }))
    expect(waited).toBe(waits)
  })

  test('of a decline within the soft deadline says nothing of waiting', () => {
    for (const now of [0, 20_000]) play(now, answer({ gain: 1, isQuick: false }))
    for (let time = 2; time < 12; time++) play(20_000 * time, answer({ outcome: 'none' }))
    const lessons = () => pairs.of('pair')?.of(address)
    expect([lessons()?.isWorthWaiting, lessons()?.gaps.median]).toEqual([true, 0])
    for (let time = 12; time < 22; time++) play(20_000 * time, answer({ outcome: 'none', isQuick: false }))
    expect(lessons()?.isWorthWaiting).toBe(false)
  })

  test('of a round a moment later does not say that the solver is slow', () => {
    play(0, answer())
    play(1, answer({ isQuick: false }))
    expect(pairs.of('pair')?.of(address)?.isQuick).toBe(true)
  })
})
