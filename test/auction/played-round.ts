import type { SolverResult } from '../../packages/protocol/src/solvers/solver-result.js'
import type { SolverAttempt } from '../../src/auction/attempt.js'
import { type EndedAttempt, Round, type RoundTimes } from '../../src/auction/round.js'
import type { Asked } from '../../src/auction/solver-choice.js'
import type { CallSignal } from '../../src/clients/call.js'
import { RequestSlots } from '../../src/solvers/transport/request-slots.js'
import { Standing, type Wait } from '../../src/standing/standing.js'
import { solver } from '../solvers/sample-solver.js'
import { createManualClock } from '../support/manual-clock.js'
import { signed } from './records/sample-round.js'

export const TIMEOUT_MS = 2000
export const SOFT_MS = 500
export const OWN_RULE = { afterMs: SOFT_MS, minQuotes: 1, isOwn: true } as const

/** A solver of a round, with its number in its name. */
export function askedSolver(
  number: number,
  wait: Wait = 'soft_deadline',
  slots = new RequestSlots(8),
): Asked {
  return {
    solver: solver(number),
    standing: new Standing(),
    slots,
    wait,
    waitWhenWorse: wait,
    isExpected: true,
  }
}

/** An offer of the solver with this number. */
export const offerOf = (number: number, amount = 1000n): SolverResult => ({
  kind: 'quoted',
  offer: signed(number, amount),
})

interface Played {
  readonly asked: readonly Asked[]
  /** A clock of its own when left out. */
  readonly clock?: ReturnType<typeof createManualClock>
  readonly onEnd?: (ended: EndedAttempt, round: Round) => void
  readonly times?: Partial<RoundTimes>
  readonly signal?: AbortSignal
}

/** A round of solvers that answer when `answer` is called with their number. Its clock is the test's. */
export function playRound({
  asked,
  times = {},
  signal = new AbortController().signal,
  clock = createManualClock(),
  onEnd,
}: Played) {
  const waiting = new Map<string, (result: SolverResult) => void>()
  const signals = new Map<string, CallSignal>()
  const cutOff: SolverAttempt[] = []
  let told: readonly string[] | undefined
  const round: Round = new Round({
    times: {
      requestedAt: clock.monotonic(),
      waitedMs: 0,
      limitMs: TIMEOUT_MS,
      callersLimitMs: TIMEOUT_MS,
      readMs: TIMEOUT_MS,
      softMs: SOFT_MS,
      softDeadline: OWN_RULE,
      usualRate: 0,
      ...times,
    },
    asked,
    quoteIdOf: String,
    onBest() {},
    async ask(attempt) {
      const { name } = attempt.asked.solver
      if (!(await attempt.takeSlot())) return { kind: 'cancelled', isQueued: true }
      attempt.onSent()
      signals.set(name, attempt)
      const result = await new Promise<SolverResult>((resolve) => {
        waiting.set(name, resolve)
        attempt.addEventListener('abort', () => resolve({ kind: 'cancelled' }))
        if (attempt.aborted) resolve({ kind: 'cancelled' })
      })
      attempt.onEnd()
      return result
    },
    signal,
    clock,
    onEnd(ended, played) {
      const { told } = ended.attempt
      if (told !== undefined) cutOff.push(told)
      onEnd?.(ended, played)
    },
  })
  const answerNow = (number: number, result: SolverResult) => waiting.get(String(number))?.(result)
  void round.start().then(() => {
    told = round.attempts.map(({ result }) => result.kind)
  })
  return {
    round,
    clock,
    signals,
    cutOff,
    /** What the caller was told; undefined before the answer. */
    told: () => told,
    isRead: () => round.ended.length === asked.length,
    /** Has the solver answer in this turn of the event loop. */
    answerNow,
    async answer(number: number, result: SolverResult) {
      await clock.advance(0)
      answerNow(number, result)
      await clock.advance(0)
    },
  }
}
