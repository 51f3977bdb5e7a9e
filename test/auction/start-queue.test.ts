import { describe, expect, it } from 'vitest'
import { createStartQueue } from '../../src/auction/start-queue.js'
import { identifyClient } from '../../src/http/identify-client.js'

const LIMIT_MS = 2000
/** Of a start, as long as nothing was measured. */
const USUAL_MS = 1
const MOST_WAITING = LIMIT_MS / 2 / USUAL_MS
/** Starts that take the time of a turn. */
const PER_TURN = 2

interface Work {
  readonly from?: string
  readonly limitMs?: number
  /** Milliseconds from its request to now. */
  readonly waitedMs?: number
  readonly signal?: AbortSignal
}

/** A queue whose clock and turns the test controls. A start takes `startMs`. */
function openQueue({ startMs = USUAL_MS } = {}) {
  let now = 0
  let turns: (() => void)[] = []
  const queue = createStartQueue({ clock: () => now, onNextTurn: (run) => turns.push(run) })
  const started: string[] = []
  const refused: { from: string; retryMs: number }[] = []
  const left: string[] = []
  const costs = { startMs }
  return {
    started,
    refused,
    left,
    costs,
    add({
      from = '192.0.2.1',
      limitMs = LIMIT_MS,
      waitedMs = 0,
      signal = new AbortController().signal,
    }: Work = {}) {
      queue.add({
        client: identifyClient(from),
        requestedAt: now - waitedMs,
        limitMs,
        signal,
        start() {
          started.push(from)
          now += costs.startMs
        },
        refuse: (retryMs) => refused.push({ from, retryMs }),
        leave: () => left.push(from),
      })
    },
    addTimes(count: number, work: Work = {}) {
      for (let time = 0; time < count; time++) this.add(work)
    },
    pass(ms: number) {
      now += ms
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
    expect([queue.started.length, queue.refused.length]).toEqual([20, 0])
    queue.add()
    expect(queue.started.length).toBe(21)
  })

  it('refuses what has lost three quarters of its limit before it came', () => {
    const queue = openQueue()
    queue.add({ limitMs: 400, waitedMs: 300 })
    queue.add({ limitMs: 400, waitedMs: 301 })
    expect([queue.started.length, queue.refused.length]).toEqual([1, 1])
  })

  it('refuses at once what cannot start within half of its limit, with the time that it would wait', () => {
    const queue = openQueue()
    queue.addTimes(PER_TURN + MOST_WAITING + 100)
    expect(queue.refused.length).toBeGreaterThanOrEqual(99)
    expect(queue.refused.length).toBeLessThanOrEqual(100)
    for (const { retryMs } of queue.refused) expect(retryMs).toBeGreaterThan(LIMIT_MS / 2)
    queue.add({ limitMs: 10 * LIMIT_MS })
    expect(queue.refused.length).toBeLessThanOrEqual(100)
    queue.turnUntilEmpty()
    expect(queue.started.length + queue.refused.length).toBe(PER_TURN + MOST_WAITING + 101)
  })

  it('asks what it refuses to come again at the rate at which work starts, within ten seconds', () => {
    const queue = openQueue()
    queue.addTimes(PER_TURN + MOST_WAITING + 2000)
    const times = queue.refused.map(({ retryMs }) => retryMs)
    expect(times.at(-1)).toBeCloseTo((times[0] ?? 0) + (times.length - 1) * USUAL_MS)
    queue.addTimes(20_000)
    expect(Math.max(...queue.refused.map(({ retryMs }) => retryMs))).toBe(10_000)
  })

  it('refuses what has a shorter limit earlier', () => {
    const queue = openQueue()
    queue.addTimes(100)
    queue.add({ limitMs: 100 })
    expect(queue.refused.length).toBe(1)
  })

  it('measures how fast work starts', () => {
    const queue = openQueue({ startMs: 4 })
    for (let second = 0; second < 5; second++) {
      queue.addTimes(500)
      for (let turn = 0; turn < 150; turn++) queue.turn()
    }
    const before = queue.refused.length
    queue.turnUntilEmpty()
    queue.addTimes(1000)
    const waiting = 1000 - (queue.refused.length - before)
    expect(waiting).toBeGreaterThan(MOST_WAITING / 5)
    expect(waiting).toBeLessThan(MOST_WAITING / 3)
  })

  it('forgets a slow time, also when no burst is long enough to measure again', () => {
    const queue = openQueue({ startMs: 6 })
    for (let turn = 0; turn < 50; turn++) {
      queue.addTimes(40)
      queue.pass(190)
      queue.turn()
    }
    queue.turnUntilEmpty()
    queue.costs.startMs = 0.3
    queue.pass(5000)
    const before = queue.refused.length
    for (let burst = 0; burst < 20; burst++) {
      queue.addTimes(300)
      queue.turnUntilEmpty()
      queue.pass(100)
    }
    expect(queue.refused.length).toBe(before)
  })

  it('does not refuse because one turn is slow', () => {
    const queue = openQueue()
    queue.addTimes(400)
    queue.pass(500)
    queue.turn()
    queue.addTimes(100)
    queue.turnUntilEmpty()
    expect([queue.started.length, queue.refused.length]).toEqual([500, 0])
  })

  it('starts new work at once as soon as none waits', () => {
    const queue = openQueue({ startMs: 10 })
    queue.addTimes(3000)
    expect(queue.refused.length).toBeGreaterThan(0)
    queue.turnUntilEmpty()
    const { length } = queue.refused
    queue.add({ limitMs: 10 })
    expect([queue.refused.length, queue.started.at(-1)]).toEqual([length, '192.0.2.1'])
  })

  it('lets a client with one request start next, however many another one has', () => {
    const queue = openQueue()
    queue.addTimes(3000, { from: '198.51.100.1' })
    queue.add({ from: '203.0.113.1', limitMs: 10 })
    queue.turn()
    expect(queue.started).toContain('203.0.113.1')
    expect(queue.refused.every(({ from }) => from === '198.51.100.1')).toBe(true)
  })

  it('counts an IPv6 /48 as one', () => {
    const queue = openQueue()
    for (let site = 0; site < 3000; site++) queue.add({ from: `2001:db8:0:${site.toString(16)}::1` })
    queue.add({ from: '2001:db8:1::1', limitMs: 10 })
    queue.turn()
    expect(queue.started).toContain('2001:db8:1::1')
  })

  it('no longer starts what has waited for most of its limit', () => {
    const queue = openQueue()
    queue.addTimes(10, { limitMs: 100 })
    queue.pass(80)
    queue.turn()
    expect([queue.started.length, queue.refused.length]).toEqual([PER_TURN, 10 - PER_TURN])
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
    expect([queue.started.length, queue.left.length]).toEqual([5, 1])
  })
})
