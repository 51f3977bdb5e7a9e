import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { AggregatorError } from '../../src/calls/aggregator-error.js'
import { createAggregatorClient, type OrderState } from '../../src/index.js'
import { type WaitForOrderOptions, waitForOrder } from '../../src/orders/wait-for-order.js'
import { sampleOrder } from '../samples.js'
import { NO_ORDER } from '../server.js'
import { connected, story } from './order-story.js'

const down = new AggregatorError('CONNECTION_FAILED', 'Down.')

describe('the wait for an order', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => {
    expect(vi.getTimerCount()).toBe(0)
    vi.useRealTimers()
  })

  /** How the wait for an order of these states ends, within so much time. */
  async function endOf(
    states: readonly (OrderState | AggregatorError)[],
    options: WaitForOrderOptions = {},
    withinMs = 0,
  ) {
    const waiting = waitForOrder(story(states, connected(states.length - 1)).source, options)
    const end = waiting.then(
      ({ state }) => state,
      (error: AggregatorError) => error,
    )
    await vi.advanceTimersByTimeAsync(withinMs)
    return Promise.race([end, 'open'])
  }

  it.each([
    [['NONE', 'DEPOSITED', 'SETTLED'], 'SETTLED'],
    [['NONE', 'DEPOSITED', 'REFUNDED'], 'REFUNDED'],
    [['SETTLED'], 'SETTLED'],
  ] as const)('of an order that is %j ends at once with %s', async (states, end) => {
    expect(await endOf(states)).toBe(end)
  })

  it('does not end with a state that this version does not know', async () => {
    const end = await endOf(['DEPOSITED', 'A_NEW_STATE'], { timeoutMs: 100_000 }, 100_000)
    expect(end).toMatchObject({ reason: 'TIMED_OUT' })
  })

  it('reads the order when its stream stays silent for 10 s', async () => {
    const orders = [NO_ORDER, { ...sampleOrder(2), orderId: NO_ORDER.orderId }]
    const client = createAggregatorClient({
      baseUrl: 'http://127.0.0.1:9',
      fetch: async (input, init) => {
        if (!String(input).includes('/v1/events')) return Response.json(orders.shift())
        return new Promise((_resolve, reject) => {
          init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))
        })
      },
    })
    const end = client.waitForOrder(1, NO_ORDER.orderId).then(({ state }) => state)
    await vi.advanceTimersByTimeAsync(9999)
    expect([orders.length, await Promise.race([end, 'open'])]).toEqual([1, 'open'])
    await vi.advanceTimersByTimeAsync(1)
    expect(await end).toBe('SETTLED')
  })

  it('ends with TIMED_OUT', async () => {
    expect(await endOf(['NONE', 'DEPOSITED'], { timeoutMs: 5000 }, 5000)).toMatchObject({
      name: 'AggregatorError',
      reason: 'TIMED_OUT',
      message: 'The order has not ended in time.',
      cause: { name: 'AbortError' },
    })
    expect(await endOf([down], { timeoutMs: 5000 }, 5000)).toMatchObject({ reason: 'TIMED_OUT' })
  })

  it('has no time-out by default, and takes one of any length', async () => {
    for (const timeoutMs of [undefined, 2 ** 40, Number.POSITIVE_INFINITY]) {
      const leaving = new AbortController()
      const options = { signal: leaving.signal, timeoutMs }
      const end = waitForOrder(story(['NONE'], []).source, options).catch(({ reason }) => reason)
      await vi.advanceTimersByTimeAsync(7 * 86_400_000)
      expect(await Promise.race([end, 'open'])).toBe('open')
      leaving.abort()
      expect(await end).toBe('CANCELLED')
    }
  })

  it('ends with TIMED_OUT for a signal of AbortSignal.timeout, and with CANCELLED for another one', async () => {
    const late = AbortSignal.abort(new DOMException('late', 'TimeoutError'))
    expect(await endOf(['NONE'], { signal: late })).toMatchObject({ reason: 'TIMED_OUT' })
    const cancelled = AbortSignal.abort(new Error('of an app'))
    expect(await endOf(['SETTLED'], { signal: cancelled })).toMatchObject({ reason: 'CANCELLED' })
  })

  it('ends with an error that another attempt cannot resolve', async () => {
    const unknown = new AggregatorError('CHAIN_NOT_SUPPORTED', 'No.')
    expect(await endOf(['NONE', unknown])).toBe(unknown)
  })
})

it.each([
  ['timeoutMs', { timeoutMs: 0 }, 'must be a number of milliseconds above 0'],
  ['timeoutMs', { timeoutMs: '5' }, 'must be a number of milliseconds above 0'],
  ['signal', { signal: {} }, 'must be an AbortSignal, or be left out'],
  ['options', null, 'must be an object, or be left out'],
])('a wait with bad %s is refused: %j', async (field, options, message) => {
  const client = createAggregatorClient({ baseUrl: 'http://127.0.0.1:9' })
  const waiting = client.waitForOrder(1, `0x${'11'.repeat(32)}`, options as WaitForOrderOptions)
  await expect(waiting).rejects.toMatchObject({
    name: 'AggregatorError',
    reason: 'INVALID_ARGUMENT',
    violations: [{ field, message }],
  })
})
