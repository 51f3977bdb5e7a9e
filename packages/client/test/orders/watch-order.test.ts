import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { AggregatorError } from '../../src/calls/aggregator-error.js'
import type { Order, OrderState } from '../../src/orders/read-order.js'
import { watchOrder } from '../../src/orders/watch-order.js'
import { connected, story } from './order-story.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

async function statesOf(watch: AsyncIterable<Order>): Promise<OrderState[]> {
  const states: OrderState[] = []
  for await (const { state } of watch) states.push(state)
  return states
}

describe('the watch of an order', () => {
  it('yields each change once, and ends when the last one has lasted for a while', async () => {
    const { source } = story(['NONE', 'NONE', 'DEPOSITED', 'DEPOSITED', 'SETTLED', 'SETTLED'], connected(5))
    const onEnd = vi.fn()
    const states = statesOf(watchOrder(source, { finalAfterMs: 1000 })).finally(onEnd)
    await vi.advanceTimersByTimeAsync(999)
    expect(onEnd).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(await states).toEqual(['NONE', 'DEPOSITED', 'SETTLED'])
  })

  it('yields the earlier state after a reorganisation, and waits for the end again', async () => {
    const { source, reads } = story(['SETTLED', 'DEPOSITED', 'REFUNDED'], connected(2))
    expect(await statesOf(watchOrder(source, { finalAfterMs: 0 }))).toEqual(['SETTLED'])
    expect(reads()).toBe(1)

    const again = story(['SETTLED', 'DEPOSITED', 'REFUNDED'], connected(2))
    const states = statesOf(watchOrder(again.source, {}))
    await vi.advanceTimersByTimeAsync(30_000)
    expect(await states).toEqual(['SETTLED', 'DEPOSITED', 'REFUNDED'])
  })

  it('reads once more before the end, and goes on when a reorganisation of an unpublished block has removed the state', async () => {
    const { source } = story(['REFUNDED', 'DEPOSITED', 'SETTLED'], [])
    const onEnd = vi.fn()
    const states = statesOf(watchOrder(source, {})).finally(onEnd)
    await vi.advanceTimersByTimeAsync(89_999)
    expect(onEnd).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(await states).toEqual(['REFUNDED', 'DEPOSITED', 'SETTLED'])
  })

  it('does not end before the last read succeeds', async () => {
    const down = new AggregatorError('CHAIN_UNAVAILABLE', 'Down.')
    const onLost = vi.fn()
    const { source } = story(['REFUNDED', down, 'DEPOSITED', 'SETTLED'], [])
    const watch = watchOrder(source, { onLost, finalAfterMs: 1000 })
    const states = statesOf(watch)
    await vi.advanceTimersByTimeAsync(33_000)
    expect(await states).toEqual(['REFUNDED', 'DEPOSITED', 'SETTLED'])
    expect(onLost).toHaveBeenCalledOnce()
  })

  it('yields the state after a reorganisation of an unpublished block also without an end', async () => {
    const leaving = new AbortController()
    const options = { finalAfterMs: Number.POSITIVE_INFINITY, signal: leaving.signal }
    const states = statesOf(watchOrder(story(['SETTLED', 'DEPOSITED', 'NONE'], []).source, options))
    await vi.advanceTimersByTimeAsync(1_000_000)
    leaving.abort()
    expect(await states).toEqual(['SETTLED', 'DEPOSITED', 'NONE'])
  })

  it('sees an end of which no event comes, within ten minutes at last', async () => {
    const { source, reads } = story([...Array(8).fill('NONE'), 'REFUNDED', 'REFUNDED'], [])
    const states = statesOf(watchOrder(source, {}))
    for (const [index, seconds] of [30, 60, 120, 240, 480, 600, 600].entries()) {
      await vi.advanceTimersByTimeAsync(seconds * 1000 - 1)
      expect(reads()).toBe(index + 1)
      await vi.advanceTimersByTimeAsync(1)
      expect(reads()).toBe(index + 2)
    }
    await vi.advanceTimersByTimeAsync(600_000 + 30_000)
    expect(await states).toEqual(['NONE', 'REFUNDED'])
  })

  it('does not end while the order is open, until the signal', async () => {
    const leaving = new AbortController()
    const { source } = story(['SETTLED', 'DEPOSITED'], connected(1))
    const onEnd = vi.fn()
    const states = statesOf(watchOrder(source, { signal: leaving.signal })).finally(onEnd)
    await vi.advanceTimersByTimeAsync(1_000_000)
    expect(onEnd).not.toHaveBeenCalled()
    leaving.abort()
    expect(await states).toEqual(['SETTLED', 'DEPOSITED'])
  })

  it('reads the state at the start and at each loss, when the stream never opens', async () => {
    const { source } = story(['NONE', 'DEPOSITED', 'SETTLED'], ['disconnected', 'disconnected'])
    expect(await statesOf(watchOrder(source, { finalAfterMs: 0 }))).toEqual(['NONE', 'DEPOSITED', 'SETTLED'])
  })

  it('repeats a read that fails at the start or at a loss after the next notice', async () => {
    const down = new AggregatorError('CONNECTION_FAILED', 'Down.')
    const onLost = vi.fn()
    const { source } = story([down, down, 'SETTLED'], ['disconnected', 'connected'])
    expect(await statesOf(watchOrder(source, { onLost, finalAfterMs: 0 }))).toEqual(['SETTLED'])
    expect(onLost).not.toHaveBeenCalled()
  })

  it('reads again after a failure while it is connected, and throws an error that another attempt cannot resolve', async () => {
    const down = new AggregatorError('CHAIN_UNAVAILABLE', 'Down.')
    const onLost = vi.fn()
    const { source } = story(['NONE', down, down, 'REFUNDED'], connected(1))
    const states = statesOf(watchOrder(source, { onLost, finalAfterMs: 0 }))
    await vi.advanceTimersByTimeAsync(1500)
    expect(await states).toEqual(['NONE', 'REFUNDED'])
    expect(onLost).toHaveBeenCalledTimes(2)

    const unknown = new AggregatorError('CHAIN_NOT_SUPPORTED', 'No.')
    await expect(statesOf(watchOrder(story([unknown], []).source, {}))).rejects.toBe(unknown)
  })

  it.each([Number.NaN, -1, 2 ** 31, '5', null])('rejects finalAfterMs %s', async (finalAfterMs) => {
    const { source, reads } = story(['SETTLED'], [])
    const options = { finalAfterMs: finalAfterMs as number }
    await expect(statesOf(watchOrder(source, options))).rejects.toMatchObject({
      reason: 'INVALID_ARGUMENT',
      violations: [
        {
          field: 'finalAfterMs',
          message: 'must be a number of milliseconds of 0 to 2147483647, or Infinity',
        },
      ],
    })
    expect(reads()).toBe(0)
  })
})
