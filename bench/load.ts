import type { Row } from './benchmark.js'
import type { Caller } from './callers.js'

/** The result of a load. */
export interface LoadResult {
  readonly calls: number
  readonly seconds: number
  /** Milliseconds of each call. */
  readonly latencies: readonly number[]
}

const LONGEST_CALL_MS = 20_000

/**
 * Each caller makes one call after another until the time is over. @throws Error when a call fails or never
 * ends
 */
export async function closedLoop(callers: readonly Caller[], seconds: number): Promise<LoadResult> {
  const latencies: number[] = []
  const start = performance.now()
  const end = start + seconds * 1000
  const loops = callers.map(async ({ call }) => {
    for (let now = performance.now(); now < end; ) {
      await call()
      const then = performance.now()
      latencies.push(then - now)
      now = then
    }
  })
  await endsBy(end + LONGEST_CALL_MS, Promise.all(loops))
  return { calls: latencies.length, seconds: (performance.now() - start) / 1000, latencies }
}

async function endsBy(end: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error('a call never ended')), end - performance.now())
  })
  try {
    await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** A contestant under load, with a function for its CPU time. */
export interface Contestant {
  readonly callers: readonly Caller[]
  cpuSeconds(): Promise<number>
  /** CPU time of other processes that work for its calls: its database, or its client. */
  otherCpuSeconds?(): number
}

/** The result of a contestant over all of its rounds. */
export interface Score {
  readonly perSecond: number
  /** The range of `perSecond` over its rounds, relative to their median. */
  readonly spread: number
  /** CPU time of each call. */
  readonly cpuMs: number
  /** CPU time of those other processes for each call. NaN where it cannot be measured. */
  readonly otherCpuMs: number
  /** Milliseconds, over all rounds. */
  readonly median: number
  readonly p99: number
  /** In their order. */
  readonly rounds: readonly RoundScore[]
}

/** The result of a contestant in one round. */
export type RoundScore = Pick<Score, 'perSecond' | 'cpuMs' | 'median'>

type Round = LoadResult & { readonly cpuMs: number; readonly otherCpuMs: number }

/** The durations of a load. */
export interface Pace {
  readonly rounds: number
  /** How long each turn lasts, without its warm-up. */
  readonly seconds: number
  /** The same load before each turn, so that work some time after a call belongs to counted calls. */
  readonly leadSeconds?: number
}

/**
 * Runs contestants in turns on the same machine. Each round reverses the order of the one before. One
 * uncounted round warms up. Closes their callers.
 */
export async function compete<Name extends string>(
  contestants: Readonly<Record<Name, Contestant>>,
  pace: Pace,
): Promise<Record<Name, Score>> {
  const names = Object.keys(contestants) as Name[]
  const results = new Map(names.map((name): [Name, Round[]] => [name, []]))
  try {
    for (let round = 0; round <= pace.rounds; round++) {
      for (const name of round % 2 === 0 ? names : names.toReversed()) {
        const result = await playRound(contestants[name], pace)
        if (round > 0) results.get(name)?.push(result)
      }
    }
  } finally {
    const callers = Object.values<Contestant>(contestants).flatMap((contestant) => contestant.callers)
    await Promise.all(callers.map((caller) => caller.close()))
  }
  const scores = names.map((name) => [name, scoreOf(results.get(name) ?? [])])
  return Object.fromEntries(scores)
}

async function playRound(contestant: Contestant, pace: Pace): Promise<Round> {
  const { callers, cpuSeconds, otherCpuSeconds = () => Number.NaN } = contestant
  const { seconds, leadSeconds = 0 } = pace
  if (leadSeconds > 0) await closedLoop(callers, leadSeconds)
  const cpuBefore = await cpuSeconds()
  const otherCpuBefore = otherCpuSeconds()
  const result = await closedLoop(callers, seconds)
  const otherCpuMs = (otherCpuSeconds() - otherCpuBefore) * 1000
  const cpuMs = ((await cpuSeconds()) - cpuBefore) * 1000
  const { calls } = result
  return { ...result, cpuMs: cpuMs / calls, otherCpuMs: otherCpuMs / calls }
}

function scoreOf(rounds: readonly Round[]): Score {
  const rates = rounds.map(({ calls, seconds }) => calls / seconds)
  const cpu = rounds.map(({ cpuMs }) => cpuMs)
  const otherCpu = rounds.map(({ otherCpuMs }) => otherCpuMs)
  const latencies = rounds.flatMap((round) => round.latencies)
  const perSecond = quantile(rates, 0.5)
  return {
    perSecond,
    spread: (Math.max(...rates) - Math.min(...rates)) / perSecond,
    cpuMs: quantile(cpu, 0.5),
    otherCpuMs: quantile(otherCpu, 0.5),
    median: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    rounds: rounds.map((round, index) => ({
      perSecond: rates[index] ?? Number.NaN,
      cpuMs: round.cpuMs,
      median: quantile(round.latencies, 0.5),
    })),
  }
}

/**
 * Compares two contestants within each round, so that a machine which changes its speed between rounds changes nothing.
 * @returns the median over the rounds
 */
export function compareRounds(
  score: Score,
  reference: Score,
  compare: (own: RoundScore, other: RoundScore) => number,
): number {
  const pairs = score.rounds.flatMap((own, index) => {
    const other = reference.rounds[index]
    return other === undefined ? [] : [compare(own, other)]
  })
  return quantile(pairs, 0.5)
}

/** The throughput of a contestant relative to that of another one, by `compareRounds`. */
export function throughputRatio(score: Score, reference: Score): number {
  return compareRounds(score, reference, (own, other) => own.perSecond / other.perSecond)
}

/** What a table with these columns says of its ratios. */
export const ABOUT_RATIOS = 'Ratios are taken within each round; the median of the rounds is shown.'

/** A score as columns of a table, with the ratio of its throughput to that of the reference. */
export function columnsOf(score: Score, reference: Score, call: 'quote' | 'answer'): Row {
  return {
    [`${call}s/s`]: score.perSecond,
    spread: score.spread,
    'median ms': score.median,
    'p99 ms': score.p99,
    [`CPU ms per ${call}`]: score.cpuMs,
    ratio: throughputRatio(score, reference),
  }
}

/** The value with this part of `values` below it, interpolated between two of them. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const place = part * (sorted.length - 1)
  const below = sorted[Math.floor(place)] ?? Number.NaN
  const above = sorted[Math.ceil(place)] ?? Number.NaN
  return below + (above - below) * (place - Math.floor(place))
}

/** The slope of y over x, by least squares. */
export function slope(points: readonly { x: number; y: number }[]): number {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const meanX = mean(points.map(({ x }) => x))
  const meanY = mean(points.map(({ y }) => y))
  const covariance = mean(points.map(({ x, y }) => (x - meanX) * (y - meanY)))
  return covariance / mean(points.map(({ x }) => (x - meanX) ** 2))
}
