import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import { NO_ENDPOINT } from '../../../packages/protocol/src/solvers/solver.js'
import { createPauseMeter } from '../../../src/concurrency/process-pauses.js'
import { createFanOut, type FanOutRequest, type SoftDeadline } from '../../../src/quoting/round/fan-out.js'
import { createAttemptQuote, type SolverAttempt } from '../../../src/quoting/round/solver-attempt.js'
import { RequestSlots } from '../../../src/solvers/conduct/request-slots.js'
import type { SolverHealth } from '../../../src/solvers/conduct/solver-health.js'
import type { CallListener, SolverReply } from '../../../src/solvers/transport/solver-transports.js'
import { createHealth, newClient, QUOTE_TIMEOUT_MS, roundAt, solver } from '../../solvers/conduct/rounds.js'
import { signed } from '../records/sample-trace.js'

/** What a solver does with a request on its session. It calls `onSent`; the transport calls `onEnd`. */
type OnRequest = (listener: CallListener) => Promise<SolverReply>

const REQUEST = { request: { kind: 'INDICATIVE' } } as FanOutRequest
const OFFER: SolverReply = { kind: 'replied', body: {} }
const OTHER = 99

const clock = systemClock
let onRequest: OnRequest
let session: SolverHealth

/** Asks on sessions: solver 1 does as the test says, the other one makes an offer at once. */
const attemptQuote = createAttemptQuote({
  clock: clock.monotonic,
  onAttempt() {},
  validateOffer: async () => ({ kind: 'quoted', offer: signed(1, 1n) }),
  transport: {
    async requestQuote(asked, _request, signal, listener = {}) {
      const cut = new Promise<SolverReply>((resolve) => {
        signal.addEventListener('abort', () => resolve({ kind: 'cancelled' }))
      })
      const answered = asked.name === String(OTHER) ? sent(OFFER)(listener) : onRequest(listener)
      const reply = await Promise.race([answered, cut])
      listener.onEnd?.()
      return reply
    },
  },
})

/** Sends the request at once, and replies after a time; never without a reply. */
function sent(reply?: SolverReply, afterMs = 0): OnRequest {
  return (listener) => {
    listener.onSent?.()
    return new Promise((resolve) => {
      if (reply !== undefined) setTimeout(() => resolve(reply), afterMs)
    })
  }
}

beforeEach(() => {
  vi.useFakeTimers()
  onRequest = sent(OFFER)
  session = createHealth()
  connect('a')
})
afterEach(() => void vi.useRealTimers())

/** Gives the solver another session. @returns its slots */
function connect(id: string, slots = new RequestSlots(8)): RequestSlots {
  session.connect(solver(1, { endpointUrl: NO_ENDPOINT, session: { id } }), slots)
  return slots
}

/** Begins a round of the solver and another one, for a client of its own. */
function ask(softDeadline?: SoftDeadline): Promise<SolverAttempt[]> {
  const fanOut = createFanOut({
    attemptQuote,
    quoteTimeoutMs: QUOTE_TIMEOUT_MS,
    quoteSoftTimeoutMs: 0,
    verifyTimeoutMs: 300,
    pauseMeter: createPauseMeter(clock),
    clock,
  })
  const round = roundAt(clock.monotonic(), { client: newClient() })
  return fanOut.collect(REQUEST, [session, createHealth(OTHER)], round, { softDeadline })
}

/** The part of the solver in a round, which it ends after at most the timeout. */
async function play(softDeadline?: SoftDeadline): Promise<SolverAttempt | undefined> {
  const asking = ask(softDeadline)
  await vi.advanceTimersByTimeAsync(QUOTE_TIMEOUT_MS)
  return (await asking).find(({ solver }) => solver === session.solver.address)
}

describe('a solver on a session', () => {
  test.each<[string, OnRequest]>([
    ['declines', sent({ kind: 'declined', code: 'PAUSED' }, 50)],
    ['loses its session', sent({ kind: 'failed', reason: 'session_ended', message: '' }, 50)],
    ['reads too little', async () => ({ kind: 'failed', reason: 'session_congested', message: '' })],
  ])('that quickly %s in every round keeps a closed breaker and its share', async (_what, behaviour) => {
    onRequest = behaviour
    for (let round = 0; round < 10; round++) await play()
    expect([session.isOpen, session.validShare]).toEqual([false, 1])
  })

  test.each<[string, OnRequest]>([
    ['does not answer', sent()],
    ['keeps callers waiting before it declines', sent({ kind: 'declined', code: 'OTHER' }, 1000)],
    [
      'keeps callers waiting until its session ends',
      sent({ kind: 'failed', reason: 'session_ended', message: '' }, 1000),
    ],
  ])('that %s loses time, and its breaker opens', async (_what, behaviour) => {
    onRequest = behaviour
    for (let round = 0; round < 3; round++) {
      expect(session.isOpen).toBe(false)
      await play()
    }
    expect(session.isOpen).toBe(true)
  })

  test('whose session ends during a request gets `failed` at that moment', async () => {
    onRequest = sent({ kind: 'failed', reason: 'session_ended', message: '' }, 30)
    const asking = ask()
    await vi.advanceTimersByTimeAsync(30)
    expect((await asking).map(({ result, tookMs }) => [result.kind, tookMs])).toEqual([
      ['quoted', 0],
      ['failed', 30],
    ])
  })

  test('that the soft deadline of the instance cuts off loses time, and its breaker opens', async () => {
    onRequest = sent(OFFER, 1900)
    const kinds: unknown[] = []
    while (!session.isOpen && kinds.length < 10)
      kinds.push((await play({ afterMs: 500, minQuotes: 1, isOwn: true }))?.result.kind)
    expect(kinds).toEqual(['soft_deadline', 'soft_deadline', 'soft_deadline'])
  })

  test("that a caller's soft deadline cuts off is cancelled, which says nothing about it", async () => {
    onRequest = sent()
    const kinds = new Set<unknown>()
    for (let round = 0; round < 10; round++)
      kinds.add((await play({ afterMs: 150, minQuotes: 1, isOwn: false }))?.result.kind)
    expect([...kinds]).toEqual(['cancelled'])
    expect([session.isOpen, session.validShare]).toEqual([false, 1])
  })

  test.each<[string, OnRequest]>([
    ['all requests', sent()],
    [
      'those that can still be sent',
      async () => ({ kind: 'failed', reason: 'session_congested', message: '' }),
    ],
  ])('stalls when it has three requests and answers none of %s', async (_which, next) => {
    onRequest = sent()
    const asking = [ask(), ask(), ask()]
    await vi.advanceTimersByTimeAsync(QUOTE_TIMEOUT_MS / 40 + 1)
    onRequest = next
    asking.push(ask())
    await vi.advanceTimersByTimeAsync(1)
    expect(session.status(roundAt(clock.monotonic()), clock.monotonic())).toBe('stalled')
    await vi.advanceTimersByTimeAsync(QUOTE_TIMEOUT_MS)
    await Promise.all(asking)
  })
})

describe('a request on a session', () => {
  test('is reported on the session that it was sent on', async () => {
    const asked = session.solver
    onRequest = sent({ kind: 'declined', code: 'OTHER' }, 10)
    const playing = play()
    connect('b')
    expect((await playing)?.onSession).toBe(asked)
  })

  test('is not reported when it was not sent', async () => {
    onRequest = async () => ({ kind: 'failed', reason: 'session_congested', message: '' })
    expect(await play()).toMatchObject({ result: { kind: 'failed' }, onSession: undefined })
  })

  test('releases the slot that it took when the solver has another session meanwhile', async () => {
    const before = connect('a', new RequestSlots(1))
    onRequest = sent(OFFER, 10)
    const playing = play()
    const after = connect('b', new RequestSlots(1))
    expect([before.isFull, after.isFull]).toEqual([true, false])
    await playing
    expect(before.isFull).toBe(false)
    expect([after.tryTake(0), after.tryTake(0)]).toEqual([true, false])
  })

  test('that waits for its slot goes to the session that the solver has then', async () => {
    const before = connect('a', new RequestSlots(1))
    onRequest = sent(OFFER, 10)
    const playing = [play(), play()]
    connect('b')
    const ids = (await Promise.all(playing)).map((attempt) => attempt?.onSession?.session?.id)
    expect(ids).toEqual(['a', 'b'])
    expect(before.isFull).toBe(false)
  })
})
