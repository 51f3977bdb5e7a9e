import type { Solver } from '../../../packages/protocol/src/solvers/solver.js'
import { responseOf, type SolverResult } from '../../../packages/protocol/src/solvers/solver-result.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import type { OpenPeriod } from '../../../src/solvers/conduct/circuit-breaker.js'
import { RequestSlots } from '../../../src/solvers/conduct/request-slots.js'
import {
  QuoteRound,
  type UnansweredRequest,
  type Verdict,
} from '../../../src/solvers/conduct/round-verdicts.js'
import { type OpenRequest, SolverHealth } from '../../../src/solvers/conduct/solver-health.js'
import { signed } from '../../quoting/records/sample-trace.js'

export const QUOTE_TIMEOUT_MS = 2000
export const SOFT_TIMEOUT_MS = 500

/** A pair of tokens for a short name. */
export function pairOf(name: string): { inputToken: Address; outputToken: Address } {
  return { inputToken: `0x${name}1`, outputToken: `0x${name}2` }
}

/** A registered solver with its number in its address and its name. */
export function solver(number: number, changes: Partial<Solver> = {}): Solver {
  return {
    chainId: 1,
    address: `0x${number.toString(16).padStart(40, '0')}`,
    endpointUrl: `https://solver-${number}.example.org`,
    name: String(number),
    registeredAt: number,
    isBonded: true,
    ...changes,
  }
}

/** A solver without history, or with an open period of its circuit breaker from before a restart. */
export function createHealth(
  number = 1,
  {
    openPeriod,
    onBreaker = () => {},
    maxConnections = 8,
  }: {
    openPeriod?: OpenPeriod
    onBreaker?: (openPeriod: OpenPeriod | undefined) => void
    maxConnections?: number
  } = {},
): SolverHealth {
  return new SolverHealth(solver(number), {
    quoteTimeoutMs: QUOTE_TIMEOUT_MS,
    quoteSoftTimeoutMs: SOFT_TIMEOUT_MS,
    slots: new RequestSlots(maxConnections),
    openPeriod,
    onBreaker,
  })
}

interface RoundOptions {
  readonly client?: string
  readonly pair?: string
  readonly limitMs?: number
  readonly waitedMs?: number
}

export function roundAt(
  now: number,
  { client = 'a', pair = 'ab', limitMs = QUOTE_TIMEOUT_MS, waitedMs = 0 }: RoundOptions = {},
) {
  const request = pairOf(pair)
  return new QuoteRound({ request, startedAt: now, limitMs, waitedMs, client })
}

export type ResultKind = SolverResult['kind']

const RESULTS: Readonly<Record<ResultKind, SolverResult>> = {
  quoted: { kind: 'quoted', offer: signed(1, 1n) },
  declined: { kind: 'declined', status: 422 },
  invalid: { kind: 'invalid', reason: 'malformed' },
  late: { kind: 'late' },
  soft_deadline: { kind: 'soft_deadline' },
  failed: { kind: 'failed', reason: 'connection_lost', message: '' },
  cancelled: { kind: 'cancelled' },
}

/** The result of a solver in a round. */
export interface Answer {
  readonly health: SolverHealth
  readonly result: ResultKind
  readonly tookMs?: number
}

class PlayedRequest implements OpenRequest, UnansweredRequest {
  readonly waitingSince: number
  readonly tookMs: number
  readonly result: SolverResult
  #concludedAt = 0

  constructor(
    readonly round: QuoteRound,
    readonly answer: Answer,
  ) {
    this.result = RESULTS[answer.result]
    this.waitingSince = round.startedAt
    this.tookMs = answer.tookMs ?? (answer.result === 'late' ? round.limitMs : 1)
  }

  end(): void {
    const now = this.round.startedAt + this.tookMs
    const { health } = this.answer
    health.end(this, now, responseOf(this.result) !== undefined)
    if (this.result.kind === 'quoted') {
      health.recordQuote(this, this.tookMs, now)
      this.round.recordQuote(this.tookMs, now)
    } else this.round.recordUnanswered(this, now)
  }

  concludeAt(now: number): void {
    this.#concludedAt = now
  }

  conclude(verdict: Verdict): void {
    this.answer.health.recordUnanswered(this, verdict, this.tookMs, this.#concludedAt)
  }
}

/** Plays a round from its beginning to its verdicts. @returns when it ended */
export function playRound(now: number, answers: readonly Answer[], options: RoundOptions = {}): number {
  const round = roundAt(now, options)
  round.begin(answers.length)
  const requests = answers.map((answer) => new PlayedRequest(round, answer))
  for (const request of requests) request.answer.health.begin(request, now)
  for (const request of requests.toSorted((one, other) => one.tookMs - other.tookMs)) request.end()
  const end = now + Math.max(...requests.map(({ tookMs }) => tookMs))
  for (const request of requests) request.concludeAt(end)
  round.conclude()
  return end
}

/** Three clients in sequence lose time with a solver while another one answers. @returns when the breaker opens */
export function openBreaker(health: SolverHealth, now: number, options: RoundOptions = {}): number {
  let at = now
  for (const client of ['x', 'y', 'z']) {
    at = playRound(at, [{ health, result: 'late' }, answering()], {
      ...options,
      client: `${client} at ${now}`,
    })
  }
  return at
}

/** Another solver with a valid offer. */
export function answering(tookMs = 1): Answer {
  return { health: createHealth(99), result: 'quoted', tookMs }
}

/** Requests that a solver leaves open, while the other solvers answer a millisecond later. */
export function openRequests(health: SolverHealth, times: readonly number[], options: RoundOptions = {}) {
  return times.map((now) => {
    const round = roundAt(now, options)
    round.begin(3)
    const request: OpenRequest = { round, waitingSince: now }
    health.begin(request, now)
    round.recordQuote(1, now + 1)
    return request
  })
}

let clients = 0

/** A client that no other round had. */
export function newClient(): string {
  return `client ${++clients}`
}

/** The rounds that `playRounds` plays, each for a new client if nothing else is said. */
export interface RoundsOptions {
  readonly times?: number
  readonly tookMs?: number
  readonly client?: () => string
  readonly pair?: string
}

/** Plays sequential rounds with one result of a solver, in which another solver answers. @returns when the last one ended */
export function playRounds(
  health: SolverHealth,
  now: number,
  result: ResultKind,
  { times = 1, tookMs = 1, client = newClient, pair = 'ab' }: RoundsOptions = {},
): number {
  let at = now
  for (let time = 0; time < times; time++) {
    const answer = { health, result, ...(result === 'late' ? {} : { tookMs }) }
    at = playRound(at, [answer, answering()], { client: client(), pair })
  }
  return at
}
