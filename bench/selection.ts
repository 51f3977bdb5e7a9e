import type { Address } from '../packages/protocol/src/values/hex.js'
import { learn } from '../src/auction/lessons-of-round.js'
import { choose, rankOf } from '../src/auction/solver-choice.js'
import { Pairs, type Scorecards, type Teacher, usualRate } from '../src/standing/pair.js'
import { dropOf, waitFor, waitsUntilMs } from '../src/standing/standing.js'
import type { Benchmark, Finding } from './benchmark.js'
import { quantile } from './load.js'
import { seededRandom } from './seeded-random.js'
import {
  type Asked,
  honestSolver,
  type Reply,
  WORLDS,
  type World,
  type WorldSolver,
} from './selection-worlds.js'

const SOFT_MS = 500
const TIMEOUT_MS = 2000
const SEEDS = [1, 2, 3]
const LOSS_WITHOUT_OFFER = 100

/** A solver of a world, as the rule knows it. */
interface Player extends WorldSolver {
  readonly address: Address
}

interface Played extends Reply {
  readonly player: Player
}

interface Round {
  readonly client: Teacher
  readonly asked: Omit<Asked, 'isWaitedFor' | 'usual'>
}

/** The shipped standing in markets with attackers (docs/decisions.md, D30). */
export const selection: Benchmark = {
  name: 'selection',
  about:
    'The shipped rule of whom a quote asks and waits for, in simulated markets. Loss is what honest callers lost to asking all and ' +
    'waiting for all, in basis points, after a third of the rounds; mean of three seeds.',
  async collectMetrics() {
    const findings: Finding[] = []
    const rows = WORLDS.map((world) => {
      const played = SEEDS.map((seed) => playWorld(world, seed))
      const mean = (key: keyof (typeof played)[0]) =>
        played.reduce((sum, each) => sum + each[key], 0) / SEEDS.length
      const [loss, best, median] = [mean('loss'), mean('best'), mean('medianMs')]
      findings.push({ name: `${world.name}: loss in basis points`, value: loss, atMost: world.mostLoss })
      if (world.leastBest > 0)
        findings.push({
          name: `${world.name}: answers with the best offer`,
          value: best,
          atLeast: world.leastBest,
        })
      if (Number.isFinite(world.mostMedianMs))
        findings.push({ name: `${world.name}: median time in ms`, value: median, atMost: world.mostMedianMs })
      return {
        world: world.name,
        'loss, bp': loss.toFixed(2),
        'best in the answer': `${Math.round(100 * best)} %`,
        'p50, ms': Math.round(median),
        'p95, ms': Math.round(mean('p95Ms')),
      }
    })
    return { rows, findings }
  },
}

function playWorld(world: World, seed: number) {
  const random = seededRandom(seed)
  const rule = createRule(world.places, seed)
  const players = [
    ...Array.from({ length: world.honest }, () => honestSolver(world, random)),
    ...world.attackers(random).map((reply) => ({ isHonest: false, from: 0, reply })),
    ...(world.newcomer ? [newcomerOf(world, random.normal)] : []),
  ].map((solver, index): Player => ({ ...solver, address: `0x${index}` }))
  const nextRounds = createCallers(world, random)
  const losses: number[] = []
  const times: number[] = []
  let now = 0
  for (let count = 0; count < world.rounds; count++) {
    now += random.exponential(1000 / world.perSecond)
    for (const round of nextRounds(now, count)) {
      const { asked } = round
      const known = rule.scorecardsOf(round)
      const usual = usualRate(known)
      const isFirst = asked.pair === 0 && asked.size === 0
      const isCounted = !asked.isOwnCaller && count >= world.rounds / 3 && (isFirst || !world.isFirstPair)
      const there = players.filter(({ from }) => count >= from)
      const chosen = rule.choose(known, there)
      const all = there
        .filter((player) => chosen.includes(player) || (isCounted && player.isHonest))
        .map((player) => ({
          player,
          ...player.reply({ ...asked, usual, isWaitedFor: rule.waitOf(known, player) === 'beyond' }),
        }))
      const replies = all.filter(({ player }) => chosen.includes(player))
      const { best, at } = rule.play(known, replies)
      rule.learn(round, known, replies, at)
      const possible = all.flatMap(({ player, price, at }) =>
        player.isHonest && price !== undefined && at <= TIMEOUT_MS ? [price] : [],
      )
      if (!isCounted || possible.length === 0) continue
      losses.push(best === undefined ? LOSS_WITHOUT_OFFER : Math.max(0, Math.max(...possible) - best))
      times.push(at)
    }
  }
  times.sort((one, other) => one - other)
  return {
    loss: losses.reduce((sum, loss) => sum + loss, 0) / losses.length,
    best: losses.filter((loss) => loss < 0.01).length / losses.length,
    medianMs: quantile(times, 0.5),
    p95Ms: quantile(times, 0.95),
  }
}

function newcomerOf({ rounds }: World, normal: () => number): WorldSolver {
  return { isHonest: true, from: rounds / 2, reply: () => ({ at: 150, price: 8 + normal() }) }
}

/** Callers of the attacker, who ask about every 10 s each in the first pair, and one honest caller at a time; pairs by Zipf. */
function createCallers(world: World, random: ReturnType<typeof seededRandom>) {
  const weights = Array.from({ length: world.pairs }, (_, index) => 1 / (index + 1))
  const sum = weights.reduce((total, weight) => total + weight, 0)
  const askedAt = new Array<number>(world.ownCallers).fill(Number.NEGATIVE_INFINITY)

  function drawPair(): number {
    let left = random.uniform() * sum
    for (const [pair, weight] of weights.entries()) {
      left -= weight
      if (left <= 0) return pair
    }
    return 0
  }

  return (now: number, count: number): Round[] => {
    const own = { pair: 0, size: 0, isStrange: world.strange, isOwnCaller: true, now, count }
    const rounds: Round[] = []
    for (const [number, at] of askedAt.entries()) {
      if (at > now - 7000 - 6000 * random.uniform()) continue
      askedAt[number] = now
      rounds.push({ client: { network: `own ${number}` }, asked: own })
    }
    const honest = { isStrange: false, isOwnCaller: false, now, count }
    const asked = { pair: drawPair(), size: random.integer(world.sizes), ...honest }
    return [...rounds, { client: { network: `client ${random.integer(world.callers)}` }, asked }]
  }
}

/** The rule of the service, played without its requests. */
function createRule(places: number, seed: number) {
  const pairs = new Pairs()
  const lots = seededRandom(seed)
  const keyOf = ({ asked: { pair, size } }: Round) => `${pair} ${size}`
  const lessonsOf = ({ pair, client }: Scorecards, { address }: Player) =>
    [pair?.of(address), client?.of(address)].filter((lessons) => lessons !== undefined)
  /** @param drop by how many basis points the best offer so far is worse than usual */
  const waitOf = (known: Scorecards, player: Player, drop = 0) => waitFor(lessonsOf(known, player), drop > 0)
  const dropAt = (known: Scorecards, price: number) => dropOf(rateAt(price), usualRate(known))

  return {
    waitOf,
    scorecardsOf: (round: Round) => pairs.scorecardsOf(keyOf(round), round.client, round.asked.now),
    choose(known: Scorecards, players: readonly Player[]) {
      const { pair, client, mayTeach } = known
      const candidates = players.map((player) => {
        const ofClient = mayTeach ? undefined : client?.of(player.address)
        return { player, rank: rankOf(pair?.of(player.address), ofClient) }
      })
      return choose(candidates, places, lots.uniform).map(({ candidate }) => candidate.player)
    },
    /** @returns the best price, and when the caller has it */
    play(known: Scorecards, replies: readonly Played[]) {
      const missing = new Set(replies.map(({ player }) => player))
      let best: number | undefined
      let last = 0
      const untilMs = (price: number) => {
        const drop = dropAt(known, price)
        return waitsUntilMs(
          Array.from(missing, (player) => waitOf(known, player, drop)),
          SOFT_MS,
        )
      }
      for (const { player, at, price } of replies.toSorted((one, other) => one.at - other.at)) {
        const endMs = best === undefined ? TIMEOUT_MS : Math.max(last, untilMs(best))
        if (at > endMs) return { best, at: endMs }
        missing.delete(player)
        last = at
        if (price !== undefined) best = Math.max(best ?? price, price)
      }
      return { best, at: last }
    },
    learn(round: Round, known: Scorecards, replies: readonly Played[], answeredAt: number) {
      const { now } = round.asked
      const bestOf = (offers: readonly Played[]) => Math.max(...offers.map(({ price = 0 }) => price))
      const early = replies.filter(({ price, at }) => price !== undefined && at <= answeredAt)
      if (early.length === 0) return
      const best = bestOf(early)
      const drop = dropAt(known, best)
      const { client } = round
      const at = now + answeredAt
      const open = pairs.recordRate(keyOf(round), client, rateAt(best), known.mayTeach, at)
      for (const { player, at, price } of replies) {
        const before = early.filter((other) => other.player !== player && other.at < at)
        const isOffer = price !== undefined && at <= TIMEOUT_MS
        const isLate = at > SOFT_MS
        const isAfterOffer = isLate && before.length > 0
        const gain = isOffer && isAfterOffer ? -gapTo(bestOf(before), price) : 0
        const wasWaitedFor = isAfterOffer && waitOf(known, player, drop) === 'beyond'
        learn(
          open,
          player.address,
          {
            outcome: isOffer ? 'offer' : 'none',
            isInTime: at <= answeredAt,
            isQuick: !isLate,
            gap: isOffer ? gapTo(best, price) : 0,
            gain,
            wasWaitedFor,
          },
          drop,
          now,
        )
      }
    },
  }
}

/** The rate of a price, which is in basis points from a fair one. */
const rateAt = (price: number) => 1 + price / 10_000

/** How much worse an offer is than another one, in basis points of the other one. */
const gapTo = (best: number, price: number) => (best - price) / rateAt(best)
