import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Endpoint } from '../../../packages/chain/src/rpc-endpoint.js'
import { createEndpointSelector } from '../../../src/chain/sync/polled-endpoint.js'

const [first, second, third] = ['first', 'second', 'third'].map((name) => ({ name }) as unknown as Endpoint)
const ALL = [first, second, third] as Endpoint[]

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

describe('the endpoint', () => {
  test('is the first one as long as it has new heads', () => {
    const choice = createEndpointSelector(ALL, 1000)
    for (let minute = 0; minute < 10; minute++) {
      vi.advanceTimersByTime(59_000)
      expect(choice.next(true)).toBe(first)
      choice.markHead()
    }
  })

  test('is the next one after a failure, and the first one again after the last', () => {
    const choice = createEndpointSelector(ALL, 1000)
    const chosen = [1, 2, 3].map(() => {
      choice.markFailed()
      return choice.next(false)
    })
    expect(chosen).toEqual([second, third, first])
    expect([choice.current(), choice.index()]).toEqual([first, 0])
  })

  test('is the first one again after a minute, when the other one answers', () => {
    const choice = createEndpointSelector(ALL, 1000)
    choice.markFailed()
    vi.advanceTimersByTime(59_000)
    choice.markHead()
    expect(choice.next(true)).toBe(second)
    vi.advanceTimersByTime(2000)
    choice.markHead()
    expect(choice.next(false)).toBe(second)
    expect(choice.next(true)).toBe(first)
  })

  test('is the next one after a minute without a new head', () => {
    const choice = createEndpointSelector(ALL, 1000)
    vi.advanceTimersByTime(61_000)
    expect(choice.next(true)).toBe(second)
    expect(choice.next(true)).toBe(second)
  })

  test('stays the same for three poll intervals without a new head, when these are long', () => {
    const choice = createEndpointSelector(ALL, 60_000)
    vi.advanceTimersByTime(179_000)
    expect(choice.next(true)).toBe(first)
    vi.advanceTimersByTime(2000)
    expect(choice.next(true)).toBe(second)
  })

  test('stays the same when there is only one', () => {
    const choice = createEndpointSelector([first as Endpoint], 1000)
    choice.markFailed()
    vi.advanceTimersByTime(100_000)
    expect(choice.next(true)).toBe(first)
  })
})
