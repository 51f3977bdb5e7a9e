import { expect, test } from 'vitest'
import type { Caller } from './callers.js'
import { closedLoop, columnsOf, compareRounds, compete, quantile, slope, throughputRatio } from './load.js'

test('a quantile is one of the values, or is interpolated between two', () => {
  expect(quantile([3, 1, 2], 0.5)).toBe(2)
  expect(quantile([4, 1, 3, 2], 0.5)).toBe(2.5)
  expect(quantile([10, 20], 0.99)).toBeCloseTo(19.9)
  expect(quantile([7], 0.99)).toBe(7)
  expect(quantile([], 0.5)).toBeNaN()
})

test('a slope is that of the line, or of the best line when the points are not on one', () => {
  expect(slope([1, 2, 5, 50].map((x) => ({ x, y: 3 + 0.25 * x })))).toBeCloseTo(0.25)
  expect(
    slope([
      { x: 0, y: 0 },
      { x: 1, y: 2 },
      { x: 2, y: 1 },
    ]),
  ).toBeCloseTo(0.5)
})

/** Takes a turn of the event loop for each call. */
function quickCaller() {
  const caller = {
    calls: 0,
    closed: 0,
    call: () => {
      caller.calls++
      return new Promise<void>((resolve) => setImmediate(resolve))
    },
    close: async () => void caller.closed++,
  }
  return caller satisfies Caller
}

test('a closed loop measures the latency of every call, and keeps its duration', async () => {
  const callers = [quickCaller(), quickCaller()]
  const { calls, seconds, latencies } = await closedLoop(callers, 0.02)
  expect(calls).toBe((callers[0]?.calls ?? 0) + (callers[1]?.calls ?? 0))
  expect(latencies).toHaveLength(calls)
  expect(seconds).toBeGreaterThanOrEqual(0.02)
})

test('contestants take turns after an uncounted first round, and their callers are closed', async () => {
  const caller = quickCaller()
  const other = quickCaller()
  const order: string[] = []
  const contestant = (name: string, callers: Caller[]) => ({
    callers,
    cpuSeconds: async () => order.push(name) / 1000,
  })
  const scores = await compete(
    { one: contestant('one', [caller]), two: contestant('two', [other]) },
    { rounds: 2, seconds: 0.01 },
  )
  expect(order.filter((_, index) => index % 2 === 0)).toEqual(['one', 'two', 'two', 'one', 'one', 'two'])
  expect(scores.one.perSecond).toBeGreaterThan(0)
  expect(scores.one.spread).toBeGreaterThan(0)
  expect(scores.one.p99).toBeGreaterThanOrEqual(scores.one.median)
  expect([caller.closed, other.closed]).toEqual([1, 1])
})

test('a call that fails ends the competition, and all callers are closed', async () => {
  const caller = { ...quickCaller(), call: () => Promise.reject(new Error('503')) }
  const healthy = quickCaller()
  const contestant = (callers: Caller[]) => ({ callers, cpuSeconds: async () => 0 })
  const competition = compete(
    { healthy: contestant([healthy]), failing: contestant([caller]) },
    { rounds: 1, seconds: 0.01 },
  )
  await expect(competition).rejects.toThrow('503')
  expect(healthy.closed).toBe(1)
})

test('a score becomes columns with its ratio to the reference', () => {
  const round = { perSecond: 50, cpuMs: 2, median: 3 }
  const score = { ...round, spread: 0.2, p99: 9, rounds: [round] }
  const reference = { ...score, rounds: [{ ...round, perSecond: 100 }] }
  expect(columnsOf(score, reference, 'quote')).toEqual({
    'quotes/s': 50,
    spread: 0.2,
    'median ms': 3,
    'p99 ms': 9,
    'CPU ms per quote': 2,
    ratio: 0.5,
  })
})

test('contestants are compared within each round: a machine that slows down between them changes nothing', () => {
  const at = (perSecond: number) => ({ perSecond, cpuMs: 1000 / perSecond, median: 1 })
  const scoreOf = (...rates: number[]) => ({ ...at(rates[0] ?? 0), spread: 0, p99: 1, rounds: rates.map(at) })
  const [score, reference] = [scoreOf(80, 70, 30), scoreOf(100, 100, 40)]
  expect(throughputRatio(score, reference)).toBe(0.75)
  const cpuBeyond = compareRounds(score, reference, (own, other) => own.cpuMs - other.cpuMs)
  expect(cpuBeyond).toBeCloseTo(1000 / 70 - 10)
})

test('the callers of each round start with an uncounted load, whose CPU time does not count', async () => {
  const caller = quickCaller()
  const callsAtMeter: number[] = []
  const contestant = {
    callers: [caller],
    cpuSeconds: async () => {
      callsAtMeter.push(caller.calls)
      return caller.calls / 1000
    },
    databaseCpuSeconds: () => caller.calls / 500,
  }
  const { one } = await compete({ one: contestant }, { rounds: 1, seconds: 0.01, leadSeconds: 0.01 })
  const [first = 0, afterFirst = 0, second = 0] = callsAtMeter
  expect(first).toBeGreaterThan(0)
  expect(second).toBeGreaterThan(afterFirst)
  expect(one.cpuMs).toBeCloseTo(1)
  expect(one.databaseCpuMs).toBeCloseTo(2)
})

test('a contestant without a database of its own has no figure for it', async () => {
  const contestant = { callers: [quickCaller()], cpuSeconds: async () => 0 }
  const { one } = await compete({ one: contestant }, { rounds: 1, seconds: 0.01 })
  expect(one.databaseCpuMs).toBeNaN()
})
