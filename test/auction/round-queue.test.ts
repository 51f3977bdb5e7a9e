import { describe, expect, it } from 'vitest'
import { createStartQueue, limitsOf } from '../../src/auction/round-queue.js'
import { identifyClient } from '../../src/clients/client-id.js'
import { createManualClock } from '../support/manual-clock.js'
import { contextOf } from './context.js'

const LATEST_MS = 1000
/** Starts that take the time of a turn. */
const PER_TURN = 2

interface Work {
  readonly from?: string
  /** Milliseconds from now to the latest start. */
  readonly latestMs?: number
  readonly signal?: AbortSignal
}

/** A queue whose clock and turns the test controls. Each start takes a millisecond. */
function openQueue() {
  const clock = createManualClock()
  let turns: (() => void)[] = []
  const queue = createStartQueue(clock, (run) => turns.push(run))
  const started: string[] = []
  const refused: string[] = []
  const left: string[] = []
  return {
    clock,
    started,
    refused,
    left,
    add({ from = '192.0.2.1', latestMs = LATEST_MS, signal = new AbortController().signal }: Work = {}) {
      queue.add({
        client: identifyClient(from),
        latestAt: clock.monotonic() + latestMs,
        signal,
        start() {
          started.push(from)
          clock.standStill(1)
        },
        refuse: (why) => (why === 'overloaded' ? refused : left).push(from),
      })
    },
    addTimes(count: number, work: Work = {}) {
      for (let time = 0; time < count; time++) this.add(work)
    },
    /** Runs the next turn. @returns whether there was one */
    turn(): boolean {
      const due = turns
      turns = []
      for (const run of due) run()
      return due.length > 0
    },
    turnUntilEmpty() {
      while (this.turn());
    },
  }
}

describe('the queue of starts', () => {
  it('starts at once what comes while a turn has time, and the rest in later turns', () => {
    const queue = openQueue()
    queue.addTimes(20)
    expect(queue.started.length).toBe(PER_TURN)
    queue.turn()
    expect(queue.started.length).toBe(2 * PER_TURN)
    queue.turnUntilEmpty()
    expect([queue.started.length, queue.refused.length, queue.clock.waiting]).toEqual([20, 0, 0])
    queue.add()
    expect(queue.started.length).toBe(21)
  })

  it('refuses what comes after its latest start', () => {
    const queue = openQueue()
    queue.add({ latestMs: 0 })
    queue.add({ latestMs: -1 })
    expect([queue.started.length, queue.refused.length]).toEqual([1, 1])
  })

  it('refuses what has waited until its latest start, whoever is before it', async () => {
    const queue = openQueue()
    queue.addTimes(10)
    queue.add({ from: '203.0.113.1', latestMs: 100 })
    await queue.clock.advance(99)
    expect(queue.refused).toEqual([])
    await queue.clock.advance(1)
    expect(queue.refused).toEqual(['203.0.113.1'])
    await queue.clock.advance(LATEST_MS)
    expect(queue.refused.length).toBe(1 + 10 - PER_TURN)
    queue.turnUntilEmpty()
    expect(queue.started.length).toBe(PER_TURN)
  })

  it('lets a client with one request start next, however many another one has', () => {
    const queue = openQueue()
    queue.addTimes(3000, { from: '198.51.100.1' })
    queue.add({ from: '203.0.113.1' })
    queue.turn()
    expect(queue.started).toContain('203.0.113.1')
  })

  it('counts an IPv6 /48 as one', () => {
    const queue = openQueue()
    for (let site = 0; site < 3000; site++) queue.add({ from: `2001:db8:0:${site.toString(16)}::1` })
    queue.add({ from: '2001:db8:1::1' })
    queue.turn()
    expect(queue.started).toContain('2001:db8:1::1')
  })

  it('does not start what has left before it comes', () => {
    const queue = openQueue()
    queue.add({ signal: AbortSignal.abort() })
    queue.turnUntilEmpty()
    expect([queue.started.length, queue.left.length]).toEqual([0, 1])
  })

  it('forgets what has left', () => {
    const queue = openQueue()
    const controller = new AbortController()
    queue.addTimes(5)
    queue.add({ signal: controller.signal })
    controller.abort()
    queue.turnUntilEmpty()
    expect([queue.started.length, queue.left.length, queue.clock.waiting]).toEqual([5, 1, 0])
  })
})

describe('a round may take', () => {
  const { config } = contextOf({ config: { quoteTimeoutMs: 2000, verifyTimeoutMs: 500 } })

  it.each([
    ['QUOTE_TIMEOUT_MS', undefined, 'off', 2000, Number.POSITIVE_INFINITY],
    ['the same with checks of the contract after it', undefined, 'all', 2000, Number.POSITIVE_INFINITY],
    ["a caller's shorter deadline less a fifth", 1000, 'off', 800, 800],
    ["a caller's deadline less 250 ms", 2000, 'off', 1750, 1750],
    ["no more than QUOTE_TIMEOUT_MS, whatever a caller's deadline is", 60_000, 'off', 2000, 59_750],
    ['less, by a quarter, with checks', 1000, 'best', 600, 800],
    ['less, by VERIFY_TIMEOUT_MS, with checks', 2650, 'best', 1900, 2400],
  ] as const)('%s', (_what, timeoutMs, verify, limitMs, callersLimitMs) => {
    expect(limitsOf(timeoutMs, verify, config, 7)).toEqual({ requestedAt: 7, limitMs, callersLimitMs })
  })
})
