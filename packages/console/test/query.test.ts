import { Code, ConnectError } from '@connectrpc/connect'
import type { Signal } from '@preact/signals'
import { h, options, render } from 'preact'
import { afterAll, afterEach, expect, it, vi } from 'vitest'
import type { OrderEvent } from '../src/data/stream-messages.js'
import { eventOf } from './stream-event.js'

const { listeners, calls } = vi.hoisted(() => ({
  listeners: new Set<(event: OrderEvent) => void>(),
  calls: vi.fn(async () => ({})),
}))
await vi.hoisted(async () => (await import('./page-globals.js')).stubPage())
vi.mock('../src/data/api.js', () => ({ solverService: { listSolverStats: calls, getSolverStats: calls } }))
vi.mock('../src/data/events.js', async () => {
  const { signal } = await import('@preact/signals')
  const onEvent = (listener: (event: OrderEvent) => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  return { onEvent, isFollowing: signal(true), beganAt: signal(0) }
})
const { isVisible } = await import('../src/data/clock.js')
const isFollowing = (await import('../src/data/events.js')).isFollowing as Signal<boolean>
const { useQuery } = await import('../src/data/query.js')
const { useSolverStats, useStatsOfSolver } = await import('../src/data/solvers/stats.js')

const SOLVER = `0x${'a'.repeat(40)}`
// What shows nothing needs no page.
const place = { childNodes: [], firstChild: null } as unknown as Element
let names = 0

isVisible.value = true
vi.useFakeTimers()
// Effects run at once, and not by a timer of the machine.
options.requestAnimationFrame = queueMicrotask
const chance = vi.spyOn(Math, 'random').mockReturnValue(0.5)
afterEach(() => {
  render(null, place)
  calls.mockReset()
  isFollowing.value = true
})
afterAll(() => {
  isVisible.value = false
  delete options.requestAnimationFrame
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** Shows a component that reads something, until the test ends. */
async function show(read: () => unknown): Promise<void> {
  const Reader = () => {
    read()
    return null
  }
  render(h(Reader, {}), place)
  await vi.advanceTimersByTimeAsync(1)
}

const ask = (asked?: Parameters<typeof useQuery>[2]) => {
  const name = `query ${++names}`
  return show(() => useQuery(name, calls, asked))
}

/** How often it was asked after this time. */
async function askedAfter(seconds: number): Promise<number> {
  await vi.advanceTimersByTimeAsync(seconds * 1000)
  return calls.mock.calls.length
}

it('a hidden tab asks nothing, and one that is shown again asks at once', async () => {
  await ask({ refreshMs: 10_000 })
  expect(await askedAfter(9)).toBe(1)
  expect(await askedAfter(2)).toBe(2)
  isVisible.value = false
  expect(await askedAfter(600)).toBe(2)
  isVisible.value = true
  expect(await askedAfter(0)).toBe(3)
})

it('what events report is asked each half minute while there is no stream of them', async () => {
  await ask({ refreshOn: () => true })
  expect(await askedAfter(600)).toBe(1)
  isFollowing.value = false
  expect(await askedAfter(29)).toBe(1)
  expect(await askedAfter(2)).toBe(2)
  expect(await askedAfter(30)).toBe(3)
})

it.each([
  ['a failure of the instance', Code.Unavailable, 2],
  ['what the caller did wrong', Code.InvalidArgument, 1],
])('after %s (code %s) it was asked %s times in three seconds', async (_failure, code, times) => {
  calls.mockRejectedValueOnce(new ConnectError('no', code))
  await ask()
  expect(await askedAfter(3)).toBe(times)
})

/** How often statistics were read, each half second after an event. */
async function callsAfter(type: OrderEvent['type']): Promise<number[]> {
  // More than the pause between two calls, and less than the time to the next one.
  await vi.advanceTimersByTimeAsync(15_000)
  calls.mockClear()
  for (const listener of listeners) listener(eventOf({ type }))
  const counts = []
  for (let half = 0; half < 12; half++) counts.push(await askedAfter(0.5))
  return counts
}

/** The service keeps statistics for 2 s, and all consoles hear of the same event. */
it.each([
  ['of all solvers', () => useSolverStats(1n, '24h')],
  ['of all solvers, where few people look at them', () => useSolverStats(1n, '24h', true)],
  ['of one solver', () => useStatsOfSolver(1n, SOLVER, '24h')],
])(
  'the statistics %s are read again 3 to 5.5 s after a refund, and not after another event',
  async (_, read) => {
    for (const [drawn, type, expected] of [
      [0, 'Refunded', [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1]],
      [0.999, 'Refunded', [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1]],
      [0.999, 'Settled', Array(12).fill(0)],
    ] as const) {
      chance.mockReturnValue(drawn)
      await show(read)
      expect(await callsAfter(type)).toEqual(expected)
      render(null, place)
    }
    chance.mockReturnValue(0.5)
  },
)
