import type { seededRandom } from './seeded-random.js'

/** Prices are in basis points: 0 is fair, and more is better for the caller. Times are milliseconds. */
export interface Reply {
  readonly at: number
  /** Undefined for a decline. */
  readonly price: number | undefined
}

/** What a solver of a world sees of a round. */
export interface Asked {
  readonly pair: number
  readonly size: number
  /** A request that no honest solver answers with an offer. */
  readonly isStrange: boolean
  readonly isOwnCaller: boolean
  readonly now: number
  readonly count: number
  /** Whether the round waits for it beyond the soft deadline. */
  readonly isWaitedFor: boolean
  /** The rate that the caller usually gets; 0 when nothing is known. */
  readonly usual: number
}

export interface WorldSolver {
  readonly isHonest: boolean
  /** The round from which on it is there. */
  readonly from: number
  reply(asked: Asked): Reply
}

/** A market to play, and what must hold in it. */
export interface World {
  readonly name: string
  readonly honest: number
  readonly pairs: number
  readonly sizes: number
  readonly places: number
  readonly rounds: number
  readonly perSecond: number
  /** The share of solvers that need 600 to 900 ms. */
  readonly slow: number
  readonly dead: number
  readonly covers: number
  readonly skew: number
  readonly skewSeconds: number
  /** Whether only the first pair and size count. */
  readonly isFirstPair: boolean
  readonly newcomer: boolean
  /** Clients of the attacker, each of which asks about every 10 s in the first pair. */
  readonly ownCallers: number
  readonly strange: boolean
  readonly callers: number
  readonly attackers: (random: Random) => readonly ((asked: Asked) => Reply)[]
  /** The loss against asking all and waiting for all, the share of answers with the best offer, and the median time. */
  readonly mostLoss: number
  readonly leastBest: number
  readonly mostMedianMs: number
}

export type Random = ReturnType<typeof seededRandom>

const USUAL: Omit<World, 'name' | 'mostLoss'> = {
  honest: 50,
  pairs: 20,
  sizes: 3,
  places: 10,
  rounds: 6000,
  perSecond: 1,
  slow: 0.15,
  dead: 0.03,
  covers: 0.75,
  skew: 3,
  skewSeconds: 120,
  isFirstPair: false,
  newcomer: false,
  ownCallers: 0,
  strange: false,
  callers: 200,
  attackers: () => [],
  leastBest: 0,
  mostMedianMs: Number.POSITIVE_INFINITY,
}
const ATTACKED = { honest: 20, pairs: 3, sizes: 2, slow: 0.3, dead: 0, isFirstPair: true }
const ALL = { ...ATTACKED, isFirstPair: false }
const FED = { ...ATTACKED, ownCallers: 20 }
const THIN = { ...FED, perSecond: 0.03, rounds: 2500 }

const times = <T>(count: number, make: () => T) => Array.from({ length: count }, make)
/** Quick, with a price for each. */
const quick = (random: Random, count: number, price: (asked: Asked) => number | undefined) =>
  times(count, () => (asked: Asked) => ({ at: 20 + random.uniform() * 30, price: price(asked) }))
/** Great to their owner's callers, worse to others. */
const feeding = (count: number, worse: number) => (random: Random) =>
  quick(random, count, ({ isOwnCaller }) => (isOwnCaller ? 90 + random.uniform() : -worse))
/** Better than all when nobody waits, and too little when a round does. */
const freeWorth = (count: number) => () =>
  times(
    count,
    () =>
      ({ isWaitedFor }: Asked) =>
        isWaitedFor ? { at: 1240, price: -40 } : { at: 1990, price: 60 },
  )

const world = (name: string, mostLoss: number, changes: Partial<World>): World => ({
  ...USUAL,
  ...changes,
  name,
  mostLoss,
})

export const WORLDS: readonly World[] = [
  world('calm', 0.85, { leastBest: 0.68, mostMedianMs: 540 }),
  world('five asked', 1.7, { places: 5, leastBest: 0.48 }),
  world('restless prices', 2.1, { skew: 6, skewSeconds: 60, leastBest: 0.52 }),
  world('thin', 1.2, { perSecond: 0.1, rounds: 2500, leastBest: 0.6 }),
  world('half slow', 0.9, { honest: 30, slow: 0.5, leastBest: 0.66, mostMedianMs: 720 }),
  world('all slow', 0.8, { honest: 30, slow: 1, leastBest: 0.7 }),
  world('a newcomer', 1, { newcomer: true, leastBest: 0.78 }),
  world('junk at once', 1, {
    honest: 20,
    slow: 1,
    leastBest: 0.74,
    attackers: () => [() => ({ at: 5, price: -200 })],
  }),
  world('good, then junk', 2, {
    ...ATTACKED,
    slow: 1,
    attackers: (random) => quick(random, 5, ({ count }) => (count % 18 < 16 ? 5 : -200)),
  }),
  world('44 sybils, 500 bp worse', 6, {
    honest: 3,
    covers: 1,
    leastBest: 0.8,
    attackers: (random) => quick(random, 44, () => -500 - random.uniform()),
  }),
  world('44 sybils, 30 bp worse', 1, {
    honest: 20,
    slow: 0.3,
    leastBest: 0.7,
    attackers: (random) => quick(random, 44, () => -30 - random.uniform()),
  }),
  world('five feed themselves, 15 bp', 3, { ...FED, attackers: feeding(5, 15) }),
  world('ten feed themselves, 15 bp', 7, { ...FED, attackers: feeding(10, 15) }),
  world('twenty feed themselves, 200 bp', 12, { ...FED, attackers: feeding(20, 200) }),
  world('ten feed themselves, a quote in 18 s', 9, {
    ...FED,
    perSecond: 0.2,
    rounds: 3000,
    attackers: feeding(10, 200),
  }),
  world('ten feed themselves, a quote in 2 min', 110, { ...THIN, attackers: feeding(10, 200) }),
  world('the same, 15 bp', 12, { ...THIN, attackers: feeding(10, 15) }),
  world('one bond raises the bar', 2, {
    ...THIN,
    attackers: () => [({ isOwnCaller }) => ({ at: 20, price: isOwnCaller ? 200 : -300 })],
  }),
  world('late liars', 1.2, {
    ...FED,
    attackers: (random) =>
      times(3, () => ({ isOwnCaller }: Asked) => ({
        at: 1500 + random.uniform() * 400,
        price: isOwnCaller ? 60 : -60,
      })),
  }),
  world('ghosts', 1.5, {
    ...ATTACKED,
    attackers: (random) =>
      times(10, () => () => ({ at: 1900 + random.uniform() * 50, price: -4 + random.uniform() })),
  }),
  world('a little better, very late', 0.6, {
    ...ATTACKED,
    mostMedianMs: 480,
    attackers: (random) => [() => ({ at: 1900, price: random.uniform() < 0.22 ? 3 : -5 })],
  }),
  world('free worth, beside four', 0.6, {
    ...ALL,
    honest: 4,
    covers: 1,
    mostMedianMs: 480,
    attackers: freeWorth(1),
  }),
  world('free worth, beside twenty', 0.6, {
    ...ALL,
    mostMedianMs: 720,
    attackers: freeWorth(3),
  }),
  world('a little worse each time', 1.5, {
    ...FED,
    pairs: 1,
    sizes: 1,
    slow: 1,
    perSecond: 0.25,
    rounds: 2700,
    strange: true,
    callers: 1,
    attackers: (random) =>
      quick(random, 5, ({ count, usual }) => (count < 900 ? undefined : (usual - 1) * 10_000 - 3.5)),
  }),
  world('strange requests', 1.2, { ...FED, strange: true }),
  world('rank, then declines', 2, {
    ...ALL,
    attackers: (random) => quick(random, 20, ({ count }) => (count < 1500 ? 0 : undefined)),
  }),
  world('good at dust only', 0.6, {
    ...ALL,
    attackers: (random) => quick(random, 20, ({ size }) => (size === 0 ? 0 : -150)),
  }),
]

/** An honest solver: a spread by solver, pair and size, a skew that moves, noise, a usual time, and declines. */
export function honestSolver(of: World, random: Random): WorldSolver {
  const isSlow = random.uniform() < of.slow
  const usualMs = isSlow ? 600 + random.uniform() * 300 : 60 + random.uniform() * 260
  const declines = random.uniform() < 0.1 ? 0.7 : 0.03
  const isDead = random.uniform() < of.dead
  const spread = random.exponential(6)
  const ofPair = times(of.pairs, () =>
    random.uniform() < of.covers ? Math.abs(random.normal()) * 6 : undefined,
  )
  const ofSize = times(of.sizes, () => (random.uniform() < 0.25 ? 15 : 0))
  const skews = new Float64Array(of.pairs)
  let movedAt = 0

  function move(now: number): void {
    const kept = Math.exp(-(now - movedAt) / 1000 / of.skewSeconds)
    movedAt = now
    for (const [pair, skew] of skews.entries())
      skews[pair] = skew * kept + random.normal() * of.skew * Math.sqrt(1 - kept * kept)
  }

  return {
    isHonest: true,
    from: 0,
    reply({ pair, size, isStrange, now }) {
      if (isDead) return { at: Number.POSITIVE_INFINITY, price: undefined }
      const at = usualMs * Math.exp(random.normal() * 0.2)
      const own = ofPair[pair]
      if (isStrange || own === undefined || random.uniform() < declines) return { at, price: undefined }
      move(now)
      return { at, price: -(spread + own + (ofSize[size] ?? 0) + (skews[pair] ?? 0) + random.normal() * 1.5) }
    },
  }
}
