import { h, render } from 'preact'
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
const { useSolverStats, useStatsOfSolver } = await import('../src/data/solvers/stats.js')

isVisible.value = true
vi.useFakeTimers()
const chance = vi.spyOn(Math, 'random')
afterEach(() => void calls.mockClear())
afterAll(() => {
  isVisible.value = false
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** How often statistics were read, each half second after an event. */
async function callsAfter(type: OrderEvent['type'], read: () => unknown): Promise<number[]> {
  // What shows nothing needs no page.
  const place = { childNodes: [], firstChild: null } as unknown as Element
  const Reader = () => {
    read()
    return null
  }
  render(h(Reader, {}), place)
  // More than the pause between two calls, and less than the time to the next one.
  await vi.advanceTimersByTimeAsync(15_000)
  calls.mockClear()
  for (const listener of listeners) listener(eventOf({ type }))
  const counts = []
  for (let half = 0; half < 12; half++) {
    await vi.advanceTimersByTimeAsync(500)
    counts.push(calls.mock.calls.length)
  }
  render(null, place)
  return counts
}

const SOLVER = `0x${'a'.repeat(40)}`

/** The service keeps statistics for 2 s, and all consoles hear of the same event. */
it.each([
  ['of all solvers', () => useSolverStats(1n, '24h')],
  ['of all solvers, where few people look at them', () => useSolverStats(1n, '24h', true)],
  ['of one solver', () => useStatsOfSolver(1n, SOLVER, '24h')],
])(
  'the statistics %s are read again 3 to 5.5 s after a refund, and not after another event',
  async (_, read) => {
    chance.mockReturnValue(0)
    expect(await callsAfter('Refunded', read)).toEqual([0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1])
    chance.mockReturnValue(0.999)
    expect(await callsAfter('Refunded', read)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1])
    expect(await callsAfter('Settled', read)).toEqual(Array(12).fill(0))
  },
)
