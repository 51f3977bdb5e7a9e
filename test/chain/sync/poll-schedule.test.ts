import { beforeEach, expect, it } from 'vitest'
import { createPollSchedule, type PollRun } from '../../../src/chain/sync/poll-schedule.js'
import { createManualClock, type ManualClock } from '../../support/manual-clock.js'

const PAUSE_MS = 1000

let clock: ManualClock

beforeEach(() => {
  clock = createManualClock()
})

interface StartedPoll extends PollRun {
  end(): void
  fail(): void
}

/** A schedule whose polls end when the test says so. `pauses` are the pauses after the polls; later ones are PAUSE_MS. */
function createTestSchedule(pauses: (number | undefined)[] = []) {
  const polls: StartedPoll[] = []
  let polled = 0
  const poll = (run: PollRun) =>
    new Promise<void>((resolve, reject) => {
      polls.push({ ...run, end: resolve, fail: () => reject(new Error('no answer')) })
    })
  const schedule = createPollSchedule({
    poll,
    clock,
    onPolled: () => polled++,
    pauseMs: () => (pauses.length > 0 ? pauses.shift() : PAUSE_MS),
  })
  const at = (index: number) => {
    const started = polls[index]
    if (started === undefined) throw new Error(`there is no poll ${index}`)
    return started
  }
  return {
    ...schedule,
    start: () => schedule.start(poll),
    at,
    begun: () => polls.length,
    ended: () => polled,
  }
}

/** Lets promises settle, without any time. */
const settle = () => clock.advance(0)

/** Whether a promise has settled. */
function observe(promise: Promise<void>) {
  const state = { isDone: false }
  const done = () => {
    state.isDone = true
  }
  promise.then(done, done)
  return state
}

it('a poll starts one pause after the end of the one before, successful or not', async () => {
  const schedule = createTestSchedule()
  const first = schedule.start()
  first.catch(() => {})
  schedule.at(0).fail()
  await expect(first).rejects.toThrow('no answer')
  await clock.advance(PAUSE_MS - 1)
  expect([schedule.begun(), schedule.ended()]).toEqual([1, 1])
  await clock.advance(1)
  expect(schedule.begun()).toBe(2)
  await clock.advance(10 * PAUSE_MS)
  expect(schedule.begun()).toBe(2)
  schedule.at(1).end()
  await clock.advance(PAUSE_MS)
  expect([schedule.begun(), schedule.ended()]).toEqual([3, 2])
})

it('all calls during a poll share the next one, which starts after them', async () => {
  const schedule = createTestSchedule()
  schedule.start()
  const calls = [schedule.pollNow(), schedule.pollNow()].map(observe)
  await settle()
  expect(schedule.begun()).toBe(1)
  schedule.at(0).end()
  await settle()
  expect(schedule.begun()).toBe(2)
  const later = observe(schedule.pollNow())
  schedule.at(1).fail()
  await settle()
  expect([calls.map(({ isDone }) => isDone), later.isDone, schedule.begun()]).toEqual([
    [true, true],
    false,
    3,
  ])
  schedule.at(2).end()
  await settle()
  expect([later.isDone, schedule.begun()]).toEqual([true, 3])
})

it('a call does not wait for a backfill, and starts no other poll during it', async () => {
  const schedule = createTestSchedule()
  schedule.start()
  const before = observe(schedule.pollNow())
  schedule.at(0).onBackfill()
  await settle()
  const during = observe(schedule.pollNow())
  await settle()
  expect([before.isDone, during.isDone, schedule.begun()]).toEqual([true, true, 1])
  schedule.at(0).end()
  await clock.advance(PAUSE_MS)
  const after = observe(schedule.pollNow())
  await settle()
  expect([after.isDone, schedule.begun()]).toEqual([false, 2])
})

it('close aborts the current poll and waits for its end, and nothing starts after it', async () => {
  const schedule = createTestSchedule()
  schedule.start()
  const { signal, pollSoon } = schedule.at(0)
  const waiting = observe(schedule.pollNow())
  const closed = observe(schedule.close())
  await settle()
  expect([signal.aborted, closed.isDone]).toEqual([true, false])
  schedule.at(0).end()
  await settle()
  expect([closed.isDone, waiting.isDone, schedule.ended()]).toEqual([true, true, 1])
  pollSoon()
  await schedule.pollNow()
  await clock.advance(10 * PAUSE_MS)
  expect([schedule.begun(), clock.waiting]).toEqual([1, 0])
})
