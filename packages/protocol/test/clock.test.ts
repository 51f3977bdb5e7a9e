import { describe, expect, test } from 'vitest'
import { createManualClock } from '../../../test/support/manual-clock.js'
import { systemClock } from '../src/clock.js'

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
