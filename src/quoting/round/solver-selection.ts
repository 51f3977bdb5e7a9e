import type { QuoteRound } from '../../solvers/conduct/round-verdicts.js'
import type { SolverHealth } from '../../solvers/conduct/solver-health.js'

/** The solvers that one quote asks. */
export interface Picked {
  readonly awaited: readonly SolverHealth[]
  /** Solvers with an open circuit breaker, which are asked only to check whether they answer again. */
  readonly probed: readonly SolverHealth[]
  /** The number of solvers that are left out because their connections stay in use for longer than the quote lasts. */
  readonly busy: number
}

/** Chooses the solvers of a quote. */
export interface Selection {
  /**
   * @param healths of the reachable solvers of a chain
   * @param limit the most solvers that the quote waits for
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

/** One request in this many is for degraded solvers, as long as there are healthy ones. */
const REQUESTS_PER_DEGRADED = 5

/** The round-robin cursors of one chain. */
interface RoundRobin {
  healthy: number
  degraded: number
  /** The number of requests that were shared out. */
  requests: number
}

/**
 * Builds a round-robin selection (docs/decisions.md, D4). When there are more solvers than `limit`, four requests in five go
 * to healthy solvers and one to degraded ones. In both groups, each quote continues after the last solver that the quote
 * before it asked. So among n healthy solvers, each is asked in `limit` of n quotes.
 *
 * Requests that one group cannot take go to the other one. Those that are left then go to solvers where the request has to
 * wait for a connection. When all circuit breakers are open, the half-open ones and the least severe of the others are
 * asked.
 */
export function createSelection(): Selection {
  const cursors = new Map<number, RoundRobin>()

  function cursorOf(chainId: number): RoundRobin {
    const known = cursors.get(chainId) ?? { healthy: 0, degraded: 0, requests: 0 }
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
    const shareBefore = Math.floor(cursor.requests / REQUESTS_PER_DEGRADED)
    cursor.requests += limit
    const degradedRequests = Math.floor(cursor.requests / REQUESTS_PER_DEGRADED) - shareBefore
    const healthyRequests = Math.min(
      healthy.length,
      Math.max(limit - degradedRequests, limit - degraded.length),
    )
    const awaited = [
      ...takeFrom(healthy, cursor.healthy, healthyRequests),
      ...takeFrom(degraded, cursor.degraded, limit - healthyRequests),
    ]
    cursor.healthy += healthyRequests
    cursor.degraded += limit - healthyRequests
    return awaited
  }

  return {
    pick(chainId, healths, limit, round, now) {
      const { healthy, degraded, full, others, busy } = group(healths, round, now)
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

/** Groups solvers. Those in `full` can be asked, but their requests have to wait. */
function group(healths: readonly SolverHealth[], round: QuoteRound, now: number) {
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
