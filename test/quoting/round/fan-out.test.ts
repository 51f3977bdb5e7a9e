import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { SolverResult } from '../../../packages/protocol/src/solvers/solver-result.js'
import { createPauseMeter, type PauseMeter } from '../../../src/concurrency/process-pauses.js'
import {
  createFanOut,
  type FanOutRequest,
  isOwnTimeout,
  type SoftDeadline,
} from '../../../src/quoting/round/fan-out.js'
import type { AttemptQuote } from '../../../src/quoting/round/solver-attempt.js'
import { createHealth, pairOf, roundAt } from '../../solvers/conduct/rounds.js'
import { createManualClock } from '../../support/manual-clock.js'
import { signed } from '../records/sample-trace.js'

const REQUEST = {} as FanOutRequest

/** A fan-out to solvers that answer when `answer` is called with their number. */
function openFanOut(quoteTimeoutMs = 60_000, measured?: PauseMeter, quoteSoftTimeoutMs = 0) {
  const clock = createManualClock()
  const waiting = new Map<string, (result: SolverResult) => void>()
  const signals: AbortSignal[] = []
  const attemptQuote: AttemptQuote = async (_request, { solver }, _round, signal) => {
    signals.push(signal)
    const result = await new Promise<SolverResult>((resolve) => {
      waiting.set(solver.name, resolve)
      signal.addEventListener('abort', () => resolve(signal.reason))
    })
    return { solver: solver.address, result, tookMs: 1 }
  }
  const fanOut = createFanOut({
    attemptQuote,
    quoteTimeoutMs,
    quoteSoftTimeoutMs,
    verifyTimeoutMs: 300,
    pauseMeter: measured ?? createPauseMeter(clock),
    clock,
  })
  const answer = (number: number, result: SolverResult) => waiting.get(String(number))?.(result)
  return { ...fanOut, clock, answer, signals }
}

const solvers = (count: number) => Array.from({ length: count }, (_, index) => createHealth(index))
const round = (limitMs: number) => roundAt(0, { limitMs })
const DECLINED: SolverResult = { kind: 'declined', status: 422 }
const QUOTED = { kind: 'quoted', offer: signed(1, 1n) } as const
const INVALID: SolverResult = { kind: 'invalid', reason: 'malformed' }

test('results come in the order of their arrival', async () => {
  const { collect, answer } = openFanOut()
  const collecting = collect(REQUEST, solvers(3), round(60_000))
  for (const number of [2, 0, 1]) {
    answer(number, INVALID)
    await nextTurn()
  }
  const numbers = (await collecting).map(({ solver }) => Number(solver))
  expect(numbers).toEqual([2, 0, 1])
})

test.each([
  [1000, 'off', 800],
  [10_000, 'off', 9750],
  // The settlement contract checks the offers in a quarter of it, when a silent solver takes all of the rest.
  [1000, 'best', 600],
  [10_000, 'best', 9450],
] as const)(
  'a caller with a deadline of %i ms and the checks %s leaves solvers %i ms, and its answer time to arrive',
  (timeoutMs, verify, limitMs) => {
    expect(openFanOut().limitMs({ timeoutMs }, verify)).toBe(limitMs)
  },
)

test.each([
  // What decides: the limit and the wait together are the timeout, of which the round has lost little.
  [{ limitMs: 200, waitedMs: 0, pausedMs: 0 }, true],
  [{ limitMs: 199, waitedMs: 0, pausedMs: 0 }, false],
  [{ limitMs: 180, waitedMs: 20, pausedMs: 0 }, true],
  [{ limitMs: 179, waitedMs: 21, pausedMs: 0 }, false],
  [{ limitMs: 200, waitedMs: 0, pausedMs: 100 }, true],
  [{ limitMs: 200, waitedMs: 0, pausedMs: 101 }, false],
])('whether the end of a round %o is its own timeout of 200 ms: %s', (ended, isOwn) => {
  expect(isOwnTimeout(ended, 200)).toBe(isOwn)
})

test.each([
  [20, 'late'],
  [40, 'cancelled'],
] as const)(
  'with a timeout of %i ms, a request that a limit of 20 ms ends is %s',
  async (timeoutMs, kind) => {
    const { collect, answer, clock } = openFanOut(timeoutMs)
    const collecting = collect(REQUEST, solvers(2), round(20))
    answer(1, INVALID)
    await clock.advance(20)
    expect((await collecting).map(({ result }) => result.kind)).toEqual(['invalid', kind])
    expect(clock.waiting).toBe(0)
  },
)

describe('after a pause of the process', () => {
  const TIMEOUT_MS = 2000

  test.each([
    // As on a busy machine: one turn of the event loop takes a quarter of a second.
    [300, 'late'],
    [1500, 'cancelled'],
  ] as const)('of %i ms, a request that the timeout of 2,000 ms ends is %s', async (pausedMs, kind) => {
    const { collect, clock } = openFanOut(TIMEOUT_MS)
    const collecting = collect(REQUEST, solvers(1), round(TIMEOUT_MS))
    clock.standStill(pausedMs)
    await clock.advance(TIMEOUT_MS - pausedMs)
    expect((await collecting).map(({ result }) => result.kind)).toEqual([kind])
  })

  /** A round of which one solver answers at once, and the other one in the turn of the event loop after its end is due. */
  async function collectOverdue(pausedMs: number, softDeadline?: SoftDeadline) {
    const onDue = () => {
      setImmediate(() => answer(1, QUOTED))
      return pausedMs
    }
    const pauseMeter = { watch: () => ({ pausedMs: onDue, end() {} }) }
    const { collect, answer, clock } = openFanOut(TIMEOUT_MS, pauseMeter)
    const collecting = collect(REQUEST, solvers(2), round(TIMEOUT_MS), { softDeadline })
    answer(0, QUOTED)
    await clock.advance(softDeadline?.afterMs ?? TIMEOUT_MS)
    return (await collecting).map(({ result }) => result.kind)
  }

  test.each([
    [0, 'late'],
    [400, 'quoted'],
  ] as const)('of %i ms, an offer that is read when the round is due to end is %s', async (ms, kind) => {
    expect(await collectOverdue(ms)).toEqual(['quoted', kind])
  })

  test.each([
    [0, 'cancelled'],
    [400, 'quoted'],
  ] as const)('of %i ms, an offer that is read when the soft deadline is due is %s', async (ms, kind) => {
    expect(await collectOverdue(ms, { afterMs: 150, minQuotes: 1, isOwn: false })).toEqual(['quoted', kind])
  })
})

test.each(['before', 'after'])(
  'requests are cancelled when the caller goes away %s their start',
  async (when) => {
    const { collect } = openFanOut()
    const caller = new AbortController()
    if (when === 'before') caller.abort()
    const collecting = collect(REQUEST, solvers(2), round(60_000), { signal: caller.signal })
    caller.abort()
    expect((await collecting).map(({ result }) => result.kind)).toEqual(['cancelled', 'cancelled'])
  },
)

test('the rest of a declined reply is dropped at the end of the round, and not before', async () => {
  const { collect, answer, signals } = openFanOut()
  const collecting = collect(REQUEST, solvers(2), round(60_000))
  answer(0, DECLINED)
  await nextTurn()
  expect(signals[0]?.aborted).toBe(false)
  answer(1, INVALID)
  await collecting
  expect(signals[0]?.aborted).toBe(true)
})

test('a round of 50 solvers causes no warning of a leak', async () => {
  const warnings: Error[] = []
  const onWarning = (warning: Error) => warnings.push(warning)
  process.on('warning', onWarning)
  onTestFinished(() => void process.off('warning', onWarning))
  const { collect, clock } = openFanOut(1)
  const collecting = collect(REQUEST, solvers(50), round(1))
  await clock.advance(1)
  await collecting
  expect(warnings).toEqual([])
})

describe('a soft deadline', () => {
  /** A round of three solvers with this soft deadline. */
  function collectUntil(softDeadline: SoftDeadline) {
    const fanOut = openFanOut()
    let kinds: string[] | undefined
    const collecting = fanOut.collect(REQUEST, solvers(3), round(60_000), { softDeadline })
    void collecting.then((attempts) => {
      kinds = attempts.map(({ result }) => result.kind)
    })
    return { ...fanOut, kinds: () => kinds }
  }

  test.each([
    ['of the caller ends the round when there is an offer, and cancels the others', false, 'cancelled'],
    ['of the instance does the same, and the others have lost time', true, 'soft_deadline'],
  ] as const)('%s', async (_what, isOwn, kind) => {
    const { answer, kinds, clock } = collectUntil({ afterMs: 150, minQuotes: 1, isOwn })
    answer(0, QUOTED)
    await clock.advance(149)
    expect(kinds()).toBeUndefined()
    await clock.advance(1)
    expect(kinds()).toEqual(['quoted', kind, kind])
  })

  test('of the instance lets a round without an offer go on until the first one', async () => {
    const { answer, kinds, clock } = collectUntil({ afterMs: 150, minQuotes: 1, isOwn: true })
    await clock.advance(1000)
    answer(0, DECLINED)
    await clock.advance(1000)
    expect(kinds()).toBeUndefined()
    answer(1, QUOTED)
    await clock.advance(0)
    expect(kinds()).toEqual(['declined', 'quoted', 'soft_deadline'])
  })

  test.each([
    [15, 0, 'soft_deadline'],
    [16, 0, 'cancelled'],
    [0, 75, 'soft_deadline'],
    [0, 76, 'cancelled'],
  ] as const)(
    'of 150 ms says nothing about solvers when %i ms were waited and the process was paused for %i ms: %s',
    async (waitedMs, pausedMs, kind) => {
      const pauseMeter = { watch: () => ({ pausedMs: () => pausedMs, end() {} }) }
      const { collect, answer, clock } = openFanOut(60_000, pauseMeter)
      const softDeadline = { afterMs: 150 - waitedMs, minQuotes: 1, isOwn: true }
      const collecting = collect(REQUEST, solvers(2), roundAt(0, { waitedMs }), { softDeadline })
      answer(0, QUOTED)
      await clock.advance(150 - waitedMs)
      expect((await collecting).map(({ result }) => result.kind)).toEqual(['quoted', kind])
    },
  )

  test('of the instance ends a probe, for which no caller waits', async () => {
    const { probe, clock } = openFanOut(60_000, undefined, 150)
    const request = { request: pairOf('ab') } as unknown as FanOutRequest
    const probing = probe(request, createHealth(), 'a')
    await clock.advance(150)
    expect((await probing).map(({ result }) => result.kind)).toEqual(['soft_deadline'])
  })

  test('waits for as many offers as are wanted, and results without an offer do not count', async () => {
    const { answer, kinds, clock } = collectUntil({ afterMs: 150, minQuotes: 2, isOwn: false })
    answer(0, QUOTED)
    await clock.advance(1000)
    answer(1, DECLINED)
    await clock.advance(1000)
    expect(kinds()).toBeUndefined()
    answer(2, QUOTED)
    await clock.advance(0)
    expect(kinds()).toEqual(['quoted', 'declined', 'quoted'])
  })

  test('does not delay a round whose solvers have all answered', async () => {
    const { answer, kinds, clock } = collectUntil({ afterMs: 150, minQuotes: 3, isOwn: false })
    for (const number of [0, 1, 2]) answer(number, DECLINED)
    await clock.advance(0)
    expect([kinds(), clock.waiting]).toEqual([['declined', 'declined', 'declined'], 0])
  })
})
