import type { Solver, SolverKey } from '../../packages/protocol/src/solvers/solver.js'
import type { ChosenBy, Selection } from '../../packages/protocol/src/solvers/solver-result.js'
import type { RequestSlots, SlotsByConnection } from '../solvers/transport/request-slots.js'
import { type Gaps, type Lessons, NO_OFFER_GAP } from '../standing/lessons.js'
import type { ClientAnswers, Pair } from '../standing/pair.js'
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
export type SolverChoice = ReturnType<typeof createSolverChoice>

/** A reachable solver, as a round sees it. */
interface Examined {
  readonly solver: Solver
  readonly slots: RequestSlots
  readonly standing: Standing
  /** Its lessons in the pair. */
  readonly lessons: Lessons | undefined
  treatment: Eligibility | 'bond_unknown'
}

/** Builds the choice. */
export function createSolverChoice(
  { directory, rules, config, clock }: AuctionContext,
  standings: Standings,
  slots: SlotsByConnection,
) {
  /** Every reachable solver, and how quotes treat it. When they would ask none, they ask the least bad. */
  function examine(chainId: number, pair: Pair | undefined, now: number): readonly Examined[] {
    const all = directory.reachable(chainId).map((solver): Examined => {
      const standing = standings.of(solver)
      const lessons = pair?.of(solver.address)
      const treatment = rules.canCheck(solver) ? eligibility(standing, lessons, now) : 'bond_unknown'
      return { solver, slots: slots.of(solver), standing, lessons, treatment }
    })
    if (!all.some(isAble)) for (const one of lastResort(all, now)) one.treatment = 'able'
    return all
  }

  function toAsked(examined: Examined, now: number, chosenBy?: ChosenBy): Asked {
    const { solver, slots, standing, lessons, treatment } = examined
    const waitOf = (isWorse: boolean) => (treatment === 'probe' ? 'never' : waitFor(lessons, isWorse))
    const wait = waitOf(false)
    return {
      solver,
      standing,
      slots,
      wait,
      waitWhenWorse: waitOf(true),
      isExpected: isExpected(standing, lessons, now),
      chosenBy,
      gapBps: lessons?.gaps.median,
      isWaitedFor: wait === 'soft_deadline' || wait === 'beyond',
    }
  }

  return {
    /**
     * @param own the client's own answers in the pair, by which the round ranks the solvers first
     * @param deadline the end of the round, on the clock of standings
     */
    of(chainId: number, pair: Pair | undefined, own: ClientAnswers | undefined, deadline: number): Choice {
      const now = clock.monotonic()
      const examined = examine(chainId, pair, now)
      const able = examined.filter(isAble)
      const free = able.filter(({ slots }) => slots.canServe(now, deadline))
      const ownGaps = ({ solver }: Examined) => own?.gapsOf(solver.address)
      const chosen = choose(free, config.maxQuoteFanOut, ownGaps, Math.random)
      const isProbed = ({ treatment, slots }: Examined) =>
        treatment === 'probe' && chosen.length > 0 && !slots.isFull
      const asked = [
        ...chosen.map(({ candidate, chosenBy }) => toAsked(candidate, now, chosenBy)),
        ...examined.filter(isProbed).map((one) => toAsked(one, now)),
      ]
      return { asked, busy: able.length - free.length, notAsked: examined.length - asked.length }
    },
    /** Undefined for a solver that quotes ask. */
    notAskedReason({ chainId, address }: SolverKey): NotAskedReason | undefined {
      const found = examine(chainId, undefined, clock.monotonic()).find(
        ({ solver }) => solver.address === address,
      )
      if (found === undefined || found.treatment === 'able') return undefined
      return found.treatment === 'probe' ? 'circuit_open' : found.treatment
    },
  }
}

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

/** A solver that a round may ask. */
interface Candidate {
  /** Its lessons in the pair; undefined when it was never asked there. */
  readonly lessons: Lessons | undefined
}

/** A solver that a round asks, and why. */
export interface Chosen<C> {
  readonly candidate: C
  readonly chosenBy: ChosenBy
}

/** One place in this many is for turns, at least one. */
const PLACES_PER_TURN = 5

/**
 * Chooses whom a round asks (docs/decisions.md, D30): everyone when there are places for all. Otherwise four places in five go to the
 * smallest median gaps: of the client's own rounds, else of the pair; among equal ones to the smallest sum of the pair's. The others, and
 * those that rank leaves empty, go to who was never asked in the pair, then by lot.
 * @param ownGaps those in the client's own rounds; undefined when they do not count, or never asked the solver
 */
export function choose<C extends Candidate>(
  candidates: readonly C[],
  places: number,
  ownGaps: (candidate: C) => Gaps | undefined,
  lot: () => number,
): readonly Chosen<C>[] {
  if (candidates.length <= places) return candidates.map((candidate) => ({ candidate, chosenBy: 'ALL' }))
  const entries = candidates.map((candidate) => {
    const { lessons } = candidate
    const gap = (ownGaps(candidate) ?? lessons?.gaps)?.median ?? NO_OFFER_GAP
    // The lot of a solver that was never asked in the pair is below 0.
    return { candidate, gap, sum: lessons?.gaps.sum ?? 0, lot: lot() - Number(lessons === undefined) }
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
