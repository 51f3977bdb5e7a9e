import { describe, expect, test } from 'vitest'
import { createManualClock } from '../../../test/support/manual-clock.js'
import { systemClock } from '../src/clock.js'

describe('a manual clock', () => {
  test('calls what is due in the order of its times, each at its own time', async () => {
    const clock = createManualClock(1_000)
    const calls: string[] = []
    clock.setTimeout(() => calls.push(`late ${clock.now()}`), 300)
    clock.setInterval(() => calls.push(`every ${clock.now()}`), 100)
    clock.setTimeout(() => clock.setTimeout(() => calls.push(`inner ${clock.now()}`), 50), 200)
    await clock.advance(300)
    expect(calls).toEqual(['every 1100', 'every 1200', 'inner 1250', 'late 1300', 'every 1300'])
  })

  test('leaves timers alone when the time of day is set', async () => {
    const clock = createManualClock()
    let calls = 0
    clock.setTimeout(() => calls++, 1_000)
    clock.set(clock.now() + 86_400_000)
    await clock.advance(999)
    expect(calls).toBe(0)
    await clock.advance(1)
    expect(calls).toBe(1)
    expect(clock.monotonic()).toBe(1_000)
  })

  test('calls nothing that was stopped', async () => {
    const clock = createManualClock()
    const timer = clock.setInterval(() => expect.unreachable(), 10)
    timer.unref().stop()
    await clock.advance(1_000)
    expect(clock.waiting).toBe(0)
  })

  test('aborts its timeout signals with a TimeoutError', async () => {
    const clock = createManualClock()
    const signal = clock.timeoutSignal(20)
    await clock.advance(19)
    expect(signal.aborted).toBe(false)
    await clock.advance(1)
    expect(signal.reason.name).toBe('TimeoutError')
  })
})

describe.each([
  { name: 'the clock of the machine', clock: systemClock, pass: async () => {} },
  { name: 'a manual clock', ...manual() },
])('a sleep of $name', ({ clock, pass }) => {
  test('ends after its time', async () => {
    const before = clock.monotonic()
    const sleeping = clock.sleep(20)
    await pass(20)
    await sleeping
    expect(clock.monotonic() - before).toBeGreaterThanOrEqual(19)
  })

  test('ends with the reason of its signal when that aborts, before or meanwhile', async () => {
    const controller = new AbortController()
    const sleeping = clock.sleep(60_000, controller.signal)
    controller.abort(new Error('closed'))
    await expect(sleeping).rejects.toThrow('closed')
    await expect(clock.sleep(60_000, controller.signal)).rejects.toThrow('closed')
  })
})

function manual() {
  const clock = createManualClock()
  return { clock, pass: (ms: number) => clock.advance(ms) }
}
