import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Order, OrderState } from '../../../src/domain/order.js'
import { AggregatorError } from '../src/errors.js'
import type { Notice } from '../src/follow-events.js'
import { watchOrder } from '../src/watch-order.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** An order whose states, or failures to read it, follow each other: one read at the opening, one at each event. */
function story(states: readonly (OrderState | AggregatorError)[], notices = states.length) {
  let reads = 0
  const source = {
    async *follow({ signal }: { signal?: AbortSignal | undefined }) {
      for (let index = 0; index < notices; index++) yield { type: 'connected' } as Notice
      await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()))
    },
    async read(): Promise<Order> {
      const state = states[reads++]
      if (state instanceof Error) throw state
      return { state, chainId: 1, orderId: '0xab' } as Order
    },
  }
  return { source, reads: () => reads }
}

async function told(watch: AsyncIterable<Order>): Promise<OrderState[]> {
  const states: OrderState[] = []
  for await (const { state } of watch) states.push(state)
  return states
}

it('tells each change once, and ends when the last one has stood for a while', async () => {
  const { source } = story(['NONE', 'NONE', 'DEPOSITED', 'DEPOSITED', 'SETTLED', 'SETTLED'])
  const onEnd = vi.fn()
  const states = told(watchOrder(source, { finalAfterMs: 1000 })).finally(onEnd)
  await vi.advanceTimersByTimeAsync(999)
  expect(onEnd).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(await states).toEqual(['NONE', 'DEPOSITED', 'SETTLED'])
})

it('goes back with a reorganisation, and waits anew for the end', async () => {
  const { source, reads } = story(['SETTLED', 'DEPOSITED', 'REFUNDED'])
  expect(await told(watchOrder(source, { finalAfterMs: 0 }))).toEqual(['SETTLED'])
  expect(reads()).toBe(1)

  const again = story(['SETTLED', 'DEPOSITED', 'REFUNDED'])
  const states = told(watchOrder(again.source, {}))
  await vi.advanceTimersByTimeAsync(30_000)
  expect(await states).toEqual(['SETTLED', 'DEPOSITED', 'REFUNDED'])
})

it('does not end while the order is open, until the signal', async () => {
  const leaving = new AbortController()
  const { source } = story(['SETTLED', 'DEPOSITED'])
  const onEnd = vi.fn()
  const states = told(watchOrder(source, { signal: leaving.signal })).finally(onEnd)
  await vi.advanceTimersByTimeAsync(1_000_000)
  expect(onEnd).not.toHaveBeenCalled()
  leaving.abort()
  expect(await states).toEqual(['SETTLED', 'DEPOSITED'])
})

it('reads again what could not be read, and throws what never can be', async () => {
  const down = new AggregatorError('CHAIN_UNAVAILABLE', 'Down.')
  const onLost = vi.fn()
  const { source } = story([down, down, 'REFUNDED'], 1)
  const states = told(watchOrder(source, { onLost, finalAfterMs: 0 }))
  await vi.advanceTimersByTimeAsync(1500)
  expect(await states).toEqual(['REFUNDED'])
  expect(onLost).toHaveBeenCalledTimes(2)

  const unknown = new AggregatorError('CHAIN_NOT_SUPPORTED', 'No.')
  await expect(told(watchOrder(story([unknown]).source, {}))).rejects.toBe(unknown)
})
