import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { untilSilent } from '../../src/streams/silence.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it.each([
  ['10 s after its opening, when nothing comes', 0, 10_000],
  ['45 s after its last message', 4, 3 * 15_000 + 45_000],
])('a stream is lost %s', async (_name, messages, lostMs) => {
  async function* open(signal: AbortSignal) {
    for (let sent = 0; sent < messages; sent++) {
      if (sent > 0) await new Promise((resolve) => setTimeout(resolve, 15_000))
      yield sent
    }
    await new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')))
    })
  }
  const start = Date.now()
  const passed: number[] = []
  const reading = (async () => {
    for await (const message of untilSilent(open, new AbortController().signal)) passed.push(message)
  })().catch((thrown) => thrown)
  await vi.runAllTimersAsync()
  expect(await reading).toMatchObject({
    reason: 'CONNECTION_FAILED',
    message: 'The stream has gone silent.',
  })
  expect([passed.length, Date.now() - start]).toEqual([messages, lostMs])
  expect(vi.getTimerCount()).toBe(0)
})
