import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { TimeoutError, untilAborted, withTimeout } from '../../src/concurrency/time-limits.js'
import { createManualClock } from '../support/manual-clock.js'

const never = new Promise<never>(() => {})

test('a promise that resolves in time gives its value', async () => {
  expect(await withTimeout(Promise.resolve(7), 10_000, createManualClock())).toBe(7)
})

test('a promise that rejects in time gives its own error', async () => {
  await expect(
    withTimeout(Promise.reject(new Error('refused')), 10_000, createManualClock()),
  ).rejects.toThrow('refused')
})

test('a promise that takes longer is a TimeoutError with the time', async () => {
  const clock = createManualClock()
  const waiting = withTimeout(never, 5, clock)
  clock.advance(5)
  await expect(waiting).rejects.toEqual(new TimeoutError('no answer within 5 ms'))
})

test('a rejection after the timeout is no unhandled rejection', async () => {
  let fail = () => {}
  const late = new Promise<never>((_resolve, reject) => {
    fail = () => reject(new Error('too late'))
  })
  const clock = createManualClock()
  const waiting = withTimeout(late, 5, clock)
  clock.advance(5)
  await expect(waiting).rejects.toBeInstanceOf(TimeoutError)
  fail()
  await expect(late).rejects.toThrow('too late')
})

test.each([
  ['resolves', async () => 7],
  ['rejects', () => Promise.reject(new Error('refused'))],
])('the wait for a promise that %s leaves no listener on its signal', async (_what, settle) => {
  const { signal } = new AbortController()
  await untilAborted(settle(), signal)
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test('the wait for a promise ends with its signal', async () => {
  const controller = new AbortController()
  const waiting = untilAborted(never, controller.signal)
  controller.abort()
  await waiting
})
