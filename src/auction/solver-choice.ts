import type { Solver, SolverKey } from '../../packages/protocol/src/solvers/solver.js'
import type { ChosenBy, Selection } from '../../packages/protocol/src/solvers/solver-result.js'
import type { RequestSlots, SlotsByConnection } from '../solvers/transport/request-slots.js'
import { type Lessons, NO_OFFER_GAP } from '../standing/lessons.js'
import type { Scorecards } from '../standing/pair.js'
import {
  type Eligibility,
  eligibility,
  isExpected,
  type Standing,
  type Standings,
  type Wait,
  waitFor,
} from '../standing/standing.js'
import type { AuctionContext } from './context.js'

/** A solver that a round asks. */
export interface Asked extends Selection {
  readonly solver: Solver
  readonly standing: Standing
  readonly slots: RequestSlots
  readonly wait: Wait
  /** In place of `wait`, while the best offer of the round is worse than usual. */
  readonly waitWhenWorse: Wait
  /** Whether it is expected to quote the pair (docs/decisions.md, D14). */
  readonly isExpected: boolean
}

/** The solvers of one round. */
export interface Choice {
  /** Those that are chosen, and beyond the places those that are only asked to see whether they answer again. */
  readonly asked: readonly Asked[]
  /** The number of solvers that are left out because their connections stay in use for longer than the quote lasts. */
  readonly busy: number
  /** The number of reachable solvers that the round does not ask. */
  readonly notAsked: number
}

/** Why quotes do not ask a solver that this replica can reach. It holds in every pair. */
export type NotAskedReason = 'bond_unknown' | Exclude<Eligibility, 'able' | 'probe'>

/** Says whom quotes ask: rounds and statistics have it from here. */
export interface SolverChoice {
  /** @param deadline the end of the round, on the clock of standings */
  of(chainId: number, scorecards: Scorecards, deadline: number): Choice
  /** Undefined for a solver that quotes ask. */
  notAskedReason(solver: SolverKey): NotAskedReason | undefined
}

/** A reachable solver, as a round sees it. */
interface Examined {
  readonly solver: Solver
  readonly slots: RequestSlots
  readonly standing: Standing
  /** Its lessons in the scorecard of the pair. */
  readonly inPair: Lessons | undefined
  /** Its lessons in the scorecard of the client. */
  readonly ofClient: Lessons | undefined
  readonly rank: Rank | undefined
  treatment: Eligibility | 'bond_unknown'
}

/** Builds the choice. */
export function createSolverChoice(
  { directory, rules, config, clock }: AuctionContext,
  standings: Standings,
  slots: SlotsByConnection,
): SolverChoice {
  /** Every reachable solver, and how quotes treat it. When they would ask none, they ask the least bad. */
  function examine(
    chainId: number,
    { pair, client, mayTeach }: Scorecards,
    now: number,
  ): readonly Examined[] {
    const all = directory.reachable(chainId).map((solver): Examined => {
      const standing = standings.of(solver)
      const inPair = pair?.of(solver.address)
      const ofClient = client?.of(solver.address)
      const rank = rankOf(inPair, mayTeach ? undefined : ofClient)
      const treatment = rules.canCheck(solver) ? eligibility(standing, inPair, now) : 'bond_unknown'
      return { solver, slots: slots.of(solver), standing, inPair, ofClient, rank, treatment }
    })
    if (!all.some(isAble)) for (const one of lastResort(all, now)) one.treatment = 'able'
    return all
  }

  function toAsked(examined: Examined, now: number, chosenBy?: ChosenBy): Asked {
    const { solver, slots, standing, inPair, ofClient, treatment } = examined
    const known = [inPair, ofClient].filter((lessons) => lessons !== undefined)
    const waitOf = (isWorse: boolean) => (treatment === 'probe' ? 'never' : waitFor(known, isWorse))
    const wait = waitOf(false)
    return {
      solver,
      standing,
      slots,
      wait,
      waitWhenWorse: waitOf(true),
      isExpected: isExpected(standing, inPair, now),
      chosenBy,
      gapBps: inPair?.gap,
      isWaitedFor: wait === 'soft_deadline' || wait === 'beyond',
    }
  }

  return {
    of(chainId, scorecards, deadline) {
      const now = clock.monotonic()
      const examined = examine(chainId, scorecards, now)
      const able = examined.filter(isAble)
      const free = able.filter(({ slots }) => slots.canServe(now, deadline))
      const chosen = choose(free, config.maxQuoteFanOut, Math.random)
      const isProbed = ({ treatment, slots }: Examined) =>
        treatment === 'probe' && chosen.length > 0 && !slots.isFull
      const asked = [
        ...chosen.map(({ candidate, chosenBy }) => toAsked(candidate, now, chosenBy)),
        ...examined.filter(isProbed).map((one) => toAsked(one, now)),
      ]
      return { asked, busy: able.length - free.length, notAsked: examined.length - asked.length }
    },
    notAskedReason({ chainId, address }) {
      const found = examine(chainId, NO_SCORECARDS, clock.monotonic()).find(
        ({ solver }) => solver.address === address,
      )
      if (found === undefined || found.treatment === 'able') return undefined
      return found.treatment === 'probe' ? 'circuit_open' : found.treatment
    },
  }
}

/** Without them, the choice goes by what holds in every pair. */
const NO_SCORECARDS: Scorecards = { pair: undefined, client: undefined, mayTeach: false }

const isAble = ({ treatment }: Examined) => treatment === 'able'

/** Those whose open period is over and those that do not answer; without such, those with the fewest open periods in close succession. */
function lastResort(examined: readonly Examined[], now: number): readonly Examined[] {
  const known = examined.filter(({ treatment }) => treatment !== 'bond_unknown')
  const likely = known.filter(({ standing }) => standing.circuitState(now) !== 'open')
  if (likely.length > 0) return likely
  const levelOf = ({ standing }: Examined) => standing.breaker?.level ?? 0
  const least = Math.min(...known.map(levelOf))
  return known.filter((one) => levelOf(one) === least)
}

/** A solver that a round asks, and why. */
export interface Chosen<C> {
  readonly candidate: C
  readonly chosenBy: ChosenBy
}

/** One place in this many is for turns, at least one. */
const PLACES_PER_TURN = 5

/** The place of a solver among others: the smaller gap comes first, of equal ones the smaller sum. In basis points. */
export interface Rank {
  readonly gap: number
  readonly sum: number
}

const NO_RANK: Rank = { gap: NO_OFFER_GAP, sum: 0 }

/** A solver that a round may ask. */
interface Candidate {
  /** Undefined when it was never asked. */
  readonly rank: Rank | undefined
}

/**
 * The rank of a solver (docs/decisions.md, D30). Undefined when it was never asked.
 * @param ofClient its lessons in the client's scorecard, whose gap counts before the one of the pair
 */
export function rankOf(inPair: Lessons | undefined, ofClient: Lessons | undefined): Rank | undefined {
  if (inPair === undefined && ofClient === undefined) return undefined
  return { gap: ofClient?.gap ?? inPair?.gap ?? NO_OFFER_GAP, sum: inPair?.gapSum ?? 0 }
}

/**
 * Chooses whom a round asks (docs/decisions.md, D30): everyone when there are places for all. Otherwise four places in five go by rank. The
 * others, and those that rank leaves empty, go to who was never asked, then by lot.
 */
export function choose<C extends Candidate>(
  candidates: readonly C[],
  places: number,
  lot: () => number,
): readonly Chosen<C>[] {
  if (candidates.length <= places) return candidates.map((candidate) => ({ candidate, chosenBy: 'ALL' }))
  const entries = candidates.map((candidate) => {
    const { rank } = candidate
    // The lot of a solver that was never asked is below 0.
    return { candidate, ...(rank ?? NO_RANK), lot: lot() - Number(rank === undefined) }
  })
  const byRank = places - Math.max(1, Math.round(places / PLACES_PER_TURN))
  const ranked = entries
    .filter(({ gap }) => gap < NO_OFFER_GAP)
    .sort((one, other) => one.gap - other.gap || one.sum - other.sum || one.lot - other.lot)
    .slice(0, byRank)
  const inTurn = entries
    .filter((entry) => !ranked.includes(entry))
    .sort((one, other) => one.lot - other.lot)
    .slice(0, places - ranked.length)
  return [
    ...ranked.map(({ candidate }) => ({ candidate, chosenBy: 'RANK' as const })),
    ...inTurn.map(({ candidate }) => ({ candidate, chosenBy: 'TURN' as const })),
  ]
}
