import type { Caller } from './callers.js'

/** What a load has shown. */
export interface LoadResult {
  readonly calls: number
  readonly seconds: number
  /** Milliseconds of each call. */
  readonly latencies: readonly number[]
}

/** Each caller makes one call after another until the time is over. */
export async function closedLoop(callers: readonly Caller[], seconds: number): Promise<LoadResult> {
  const latencies: number[] = []
  const start = performance.now()
  const end = start + seconds * 1000
  await Promise.all(
    callers.map(async ({ call }) => {
      for (let now = performance.now(); now < end; ) {
        await call()
        const then = performance.now()
        latencies.push(then - now)
        now = then
      }
    }),
  )
  return { calls: latencies.length, seconds: (performance.now() - start) / 1000, latencies }
}

/** Something to put under load, and what tells how much of a processor it has taken. */
export interface Contestant {
  readonly callers: readonly Caller[]
  cpuSeconds(): Promise<number>
}

/** What a contestant did, over all of its rounds. */
export interface Score {
  readonly perSecond: number
  readonly cpuMs: number
  /** Milliseconds, over all rounds. */
  readonly median: number
  readonly p99: number
}

/** Lets contestants take turns on the same machine: round by round, after one round that warms up and does not count. */
export async function compete<Name extends string>(
  contestants: Readonly<Record<Name, Contestant>>,
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<Record<Name, Score>> {
  const entries = Object.entries<Contestant>(contestants)
  const results = new Map<string, (LoadResult & { cpuMs: number })[]>(entries.map(([name]) => [name, []]))
  for (let round = 0; round <= rounds; round++) {
    for (const [name, { callers, cpuSeconds }] of entries) {
      const cpuBefore = await cpuSeconds()
      const result = await closedLoop(callers, seconds)
      const cpuMs = ((await cpuSeconds()) - cpuBefore) * 1000
      if (round > 0) results.get(name)?.push({ ...result, cpuMs: cpuMs / result.calls })
    }
  }
  const scores = entries.map(([name]) => {
    const all = results.get(name) ?? []
    const latencies = all.flatMap((result) => result.latencies)
    const score: Score = {
      perSecond: quantile(
        all.map(({ calls, seconds: taken }) => calls / taken),
        0.5,
      ),
      cpuMs: quantile(
        all.map((result) => result.cpuMs),
        0.5,
      ),
      median: quantile(latencies, 0.5),
      p99: quantile(latencies, 0.99),
    }
    return [name, score]
  })
  return Object.fromEntries(scores)
}

/** The value that so much of `values` lies below; between two of them when there is no such one. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const place = part * (sorted.length - 1)
  const below = sorted[Math.floor(place)] ?? Number.NaN
  const above = sorted[Math.ceil(place)] ?? Number.NaN
  return below + (above - below) * (place - Math.floor(place))
}
