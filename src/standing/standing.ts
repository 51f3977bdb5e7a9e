import { LRUCache } from 'lru-cache'
import type { SolverKey } from '../../packages/protocol/src/solvers/solver.js'
import type { Address } from '../../packages/protocol/src/values/hex.js'
import type { Logger } from '../telemetry/log.js'
import { CircuitBreaker, type CircuitState } from './circuit-breaker.js'
import type { Lessons } from './lessons.js'
import { Pairs } from './pair.js'

/**
 * What this process knows of one solver of a chain (docs/decisions.md, D30). It belongs to the address: the solver keeps it at
 * another endpoint, on another session and with another registration. Times are milliseconds on a clock that never goes back.
 */
export class Standing {
  /** Undefined until the solver has cost a caller time. */
  breaker: CircuitBreaker | undefined
  /** Its longest answer in the last 10 minutes, and when that ended. */
  longest = { ms: 0, at: Number.NEGATIVE_INFINITY }
  /** The requests that it has not answered, the oldest first. */
  readonly open: OpenRequest[] = []
  answeredAt = Number.NEGATIVE_INFINITY
  hasQuoted = false
  /** Whether its last request did not reach it, or its connection broke. */
  isUnreachable = false

  get isCircuitClosed(): boolean {
    return this.breaker?.isClosed ?? true
  }

  circuitState(now: number): CircuitState {
    return this.breaker?.state(now) ?? 'closed'
  }
}

/** A request that a solver has not answered. */
export interface OpenRequest {
  /** Whether the solver is expected to quote the pair. */
  readonly isExpected: boolean
  /** When the wait for the solver began; undefined while the request waits for a connection of this service. */
  readonly waitingSince: number | undefined
  /** When the round's first valid offer came; undefined until then. */
  readonly round: { readonly offeredAt: number | undefined }
}

/** How a round treats a solver by its standing. */
export type Eligibility =
  /** The round asks it, by rank or in its turn. */
  | 'able'
  /** Its circuit breaker is half-open: it is asked to see whether it answers again, and the round never waits for it. */
  | 'probe'
  /** Its circuit breaker is open. */
  | 'circuit_open'
  /** It leaves requests unanswered while others answer them. */
  | 'not_answering'

/** The requests that must be open at the same time before a solver counts as not answering. */
const REQUESTS_TO_STALL = 3
/** It takes this many times as long as its longest answer: a stranger can have it answer sooner, or later, than it usually does. */
const STALL_FACTOR = 2
const LONGEST_KEPT_MS = 600_000
/** A solver does not stall sooner. */
const SHORTEST_STALL_MS = 50

/** Records that a round asks the solver. */
export function recordRequest(standing: Standing, request: OpenRequest, wait: Wait, now: number): void {
  standing.open.push(request)
  if (wait === 'never') standing.breaker?.recordProbe(now)
}

/** What came of a request. `answeredInMs` is undefined without an answer. */
interface RequestEnd {
  readonly answeredInMs: number | undefined
  readonly isOffer: boolean
  /** Whether it did not reach the solver. */
  readonly isFailed?: boolean
}

/** Records that a request is over. */
export function recordEnd(
  standing: Standing,
  request: OpenRequest,
  { answeredInMs, isOffer, isFailed = false }: RequestEnd,
  now: number,
): void {
  const index = standing.open.indexOf(request)
  if (index >= 0) standing.open.splice(index, 1)
  if (isOffer) standing.hasQuoted = true
  if (isFailed || answeredInMs !== undefined) standing.isUnreachable = isFailed
  if (answeredInMs === undefined) return
  standing.answeredAt = now
  const { longest } = standing
  if (answeredInMs >= longest.ms || longest.at < now - LONGEST_KEPT_MS)
    standing.longest = { ms: answeredInMs, at: now }
}

/**
 * Says whether a round asks the solver. It does when the solver is reliable in the pair: strangers can make requests that it leaves unanswered,
 * and then junk would be the answer.
 * @param lessons its lessons in the pair of the round
 */
export function eligibility(standing: Standing, lessons: Lessons | undefined, now: number): Eligibility {
  if (lessons?.isReliable(now)) return 'able'
  const { breaker } = standing
  if (breaker !== undefined && !breaker.isClosed) return breaker.isProbeDue(now) ? 'probe' : 'circuit_open'
  return isStalled(standing, now) ? 'not_answering' : 'able'
}

/** Whether the solver is expected to quote a pair: it has within a day, or has never quoted any (docs/decisions.md, D14). */
export function isExpected(standing: Standing, lessons: Lessons | undefined, now: number): boolean {
  return !standing.hasQuoted || lessons?.hasQuoted(now) === true
}

/** Until when a round with enough offers waits for a solver; `never`: one without offers does not wait for it either. */
export type Wait = 'never' | 'none' | 'soft_deadline' | 'beyond'

/**
 * Says how long a round waits for the solver, once it has enough offers (docs/decisions.md, D30).
 * @param known its lessons in the scorecard of the pair and in that of the client, where it has some
 * @param isWorse whether the best offer of the round is worse than usual
 */
export function waitFor(known: readonly Lessons[], isWorse: boolean): Wait {
  const isWorth =
    known.some(({ isWorthWaiting }) => isWorthWaiting) && !known.some(({ isBarred }) => isBarred)
  if (isWorth || (isWorse && known.some(({ isOwed }) => isOwed))) return 'beyond'
  return known.length === 0 || known.some(({ isQuick }) => isQuick) ? 'soft_deadline' : 'none'
}

/** How far beyond the soft deadline a round waits for a solver that was worth waiting for. */
const BEYOND_SOFT_MS = 750

/** Until when a round with enough offers waits for solvers with these waits, in milliseconds from the request. */
export function waitsUntilMs(waits: readonly Wait[], softMs: number): number {
  if (waits.includes('beyond')) return softMs + BEYOND_SOFT_MS
  return waits.includes('soft_deadline') ? softMs : 0
}

/** An answer that is worse than usual by no more is as usual. In basis points. */
const MOST_USUAL_DROP = 4

/** By how many basis points an answer is worse than usual; 0 when it is not. */
export function dropOf(rate: number, usualRate: number): number {
  const drop = (1 - rate / usualRate) * 10_000
  return drop > MOST_USUAL_DROP ? drop : 0
}

function isStalled(standing: Standing, now: number): boolean {
  const { open, answeredAt, longest } = standing
  if (open.length < REQUESTS_TO_STALL) return false
  const stallMs = Math.max(SHORTEST_STALL_MS, longest.ms * STALL_FACTOR)
  if (now - answeredAt <= stallMs) return false
  let kept = 0
  for (const { isExpected, waitingSince, round } of open) {
    if (!isExpected || waitingSince === undefined || waitingSince < answeredAt) continue
    if (kept === 0 && now - (round.offeredAt ?? now) <= stallMs) return false
    if (++kept === REQUESTS_TO_STALL) return true
  }
  return false
}

/** A chain keeps so many standings, of more solvers than may register. The one goes that was asked longest ago. */
const MAX_STANDINGS = 2048

/** The standings of all solvers, in the memory of this process. After a start, nothing is known. */
export class Standings {
  readonly #chains = new Map<number, { readonly pairs: Pairs; readonly of: LRUCache<Address, Standing> }>()
  readonly #log: Logger
  readonly #clock: () => number

  /** @param clock milliseconds that never go back */
  constructor(clock: () => number, log: Logger) {
    this.#clock = clock
    this.#log = log
  }

  of({ chainId, address }: SolverKey): Standing {
    const standings = this.#chainOf(chainId).of
    const known = standings.get(address)
    if (known !== undefined) return known
    const standing = new Standing()
    standings.set(address, standing)
    return standing
  }

  /** Undefined for a solver that was never asked. Anyone can look for any address, so a look keeps nothing. */
  find({ chainId, address }: SolverKey): Standing | undefined {
    return this.#chainOf(chainId).of.peek(address)
  }

  pairsOf(chainId: number): Pairs {
    return this.#chainOf(chainId).pairs
  }

  /** Whether any solver has made a valid offer in the pair within a day. */
  wasQuoted(chainId: number, pair: string): boolean {
    return this.pairsOf(chainId).of(pair)?.wasQuoted(this.#clock()) ?? false
  }

  /**
   * Records a request for the circuit breaker, and logs it when it opens or closes. A loss costs the caller time: no answer within
   * QUOTE_TIMEOUT_MS, or no connection. Otherwise the solver has answered.
   */
  recordAnswer(solver: SolverKey, client: string, isLoss: boolean): void {
    const standing = this.of(solver)
    const wasClosed = standing.isCircuitClosed
    if (isLoss) {
      standing.breaker ??= new CircuitBreaker()
      standing.breaker.recordLoss(client, this.#clock())
    } else standing.breaker?.recordAnswer(client, this.#clock())
    if (standing.isCircuitClosed === wasClosed) return
    const context = { chainId: solver.chainId, solver: solver.address }
    if (wasClosed) this.#log.warn(context, 'a solver costs its callers: quotes do not ask it')
    else this.#log.info(context, 'a solver answers again: its circuit breaker closes')
  }

  #chainOf(chainId: number) {
    const chain = this.#chains.get(chainId) ?? {
      pairs: new Pairs(),
      of: new LRUCache<Address, Standing>({ max: MAX_STANDINGS }),
    }
    this.#chains.set(chainId, chain)
    return chain
  }
}
