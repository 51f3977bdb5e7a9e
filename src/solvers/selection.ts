import type { QuoteRound } from './quote-round.js'
import type { SolverHealth } from './solver-health.js'

/** Who is asked for one quote. */
export interface Picked {
  readonly awaited: readonly SolverHealth[]
  /** Asked only to learn whether they answer again. */
  readonly probed: readonly SolverHealth[]
  /** How many were left out because all their connections are taken for longer than the quote lasts. */
  readonly busy: number
}

/** Chooses whom to ask. */
export interface Selection {
  /**
   * @param healths of the active solvers of a chain
   * @param limit how many are waited for at most
   * @param now on the clock of the solvers' health
   */
  pick(
    chainId: number,
    healths: readonly SolverHealth[],
    limit: number,
    round: QuoteRound,
    now: number,
  ): Picked
}

/** One place in so many is for degraded solvers, as long as there are others. */
const PLACES_TO_A_DEGRADED_ONE = 5

/** Whose turn it is on one chain. */
interface RoundRobin {
  healthy: number
  degraded: number
  /** Places given so far. */
  places: number
}

/**
 * Builds a selection in turns (docs/decisions.md, D4). When there are more solvers than places, four places in five go to
 * healthy solvers and one to degraded ones, and in both groups each quote goes on after the last solver that the one
 * before asked: among n healthy solvers, each is asked in `limit` of n quotes. Places that one group cannot fill go to
 * the other, and what is left then to solvers where the request has to wait for a connection. When all breakers are
 * open, the half-open ones and the least bad of the rest are asked.
 */
export function createSelection(): Selection {
  const cursors = new Map<number, RoundRobin>()

  function cursorOf(chainId: number): RoundRobin {
    const known = cursors.get(chainId) ?? { healthy: 0, degraded: 0, places: 0 }
    cursors.set(chainId, known)
    return known
  }

  function share(
    chainId: number,
    healthy: readonly SolverHealth[],
    degraded: readonly SolverHealth[],
    limit: number,
  ) {
    const cursor = cursorOf(chainId)
    const placesBefore = Math.floor(cursor.places / PLACES_TO_A_DEGRADED_ONE)
    cursor.places += limit
    const degradedPlaces = Math.floor(cursor.places / PLACES_TO_A_DEGRADED_ONE) - placesBefore
    const healthyPlaces = Math.min(healthy.length, Math.max(limit - degradedPlaces, limit - degraded.length))
    const awaited = [
      ...takeFrom(healthy, cursor.healthy, healthyPlaces),
      ...takeFrom(degraded, cursor.degraded, limit - healthyPlaces),
    ]
    cursor.healthy += healthyPlaces
    cursor.degraded += limit - healthyPlaces
    return awaited
  }

  return {
    pick(chainId, healths, limit, round, now) {
      const { healthy, degraded, full, others, busy } = sort(healths, round, now)
      const probed = others.filter((health) => health.isProbeDue(round, now))
      const isAllOpen = healthy.length + full.length + busy === 0 && degraded.every(({ isOpen }) => isOpen)
      if (isAllOpen) {
        const candidates = degraded.concat(leastBad(others))
        const awaited = candidates.filter((health) => canServe(health, round, now)).slice(0, limit)
        return {
          awaited,
          probed: probed.filter((health) => !awaited.includes(health)),
          busy: candidates.length - awaited.length,
        }
      }
      const free = healthy.length + degraded.length
      const awaited =
        free > limit
          ? share(chainId, healthy, degraded, limit)
          : healthy.concat(degraded, full.slice(0, limit - free))
      return { awaited, probed, busy }
    },
  }
}

/** Puts solvers into groups: `full` can be asked, but not at once. */
function sort(healths: readonly SolverHealth[], round: QuoteRound, now: number) {
  const healthy: SolverHealth[] = []
  const degraded: SolverHealth[] = []
  const full: SolverHealth[] = []
  const others: SolverHealth[] = []
  let busy = 0
  for (const health of healths) {
    const status = health.status(round, now)
    if (status === 'open' || status === 'stalled') others.push(health)
    else if (health.slots.isFull) {
      if (canServe(health, round, now)) full.push(health)
      else busy++
    } else if (status === 'healthy') healthy.push(health)
    else degraded.push(health)
  }
  return { healthy, degraded, full, others, busy }
}

function canServe({ slots }: SolverHealth, { startedAt, limitMs }: QuoteRound, now: number): boolean {
  return slots.canServe(now, startedAt + limitMs)
}

function leastBad(healths: readonly SolverHealth[]): readonly SolverHealth[] {
  const least = Math.min(...healths.map(({ severity }) => severity))
  return healths.filter(({ severity }) => severity === least)
}

function takeFrom(healths: readonly SolverHealth[], turn: number, count: number): readonly SolverHealth[] {
  if (healths.length === 0) return []
  const start = turn % healths.length
  const taken = healths.slice(start, start + count)
  return taken.concat(healths.slice(0, count - taken.length))
}
