import { beforeEach, describe, expect, test } from 'vitest'
import { CircuitBreaker } from '../../src/standing/circuit-breaker.js'

const SECOND = 1000

let breaker: CircuitBreaker
let clients = 0

beforeEach(() => {
  breaker = new CircuitBreaker()
})

const newClient = () => `client ${++clients}`

/** Losses of as many new clients. */
function lose(times: number, now: number): void {
  for (let time = 0; time < times; time++) breaker.recordLoss(newClient(), now)
}

/** Opens it, and lets the first probe after its open period close it. @returns how long it was open */
function openAndClose(now: number): number {
  lose(3, now)
  let closedAt = now
  while (breaker.state(closedAt) === 'open') closedAt += SECOND
  breaker.recordAnswer(newClient(), closedAt)
  return closedAt - now
}

describe('the circuit breaker', () => {
  test('opens with the losses of three clients, for 5 s', () => {
    lose(2, 0)
    expect(breaker.state(0)).toBe('closed')
    lose(1, 0)
    expect([breaker.state(0), breaker.state(4999), breaker.state(5000)]).toEqual([
      'open',
      'open',
      'half-open',
    ])
  })

  test('counts a client once in 10 s', () => {
    for (let now = 0; now < 20 * SECOND; now += SECOND) breaker.recordLoss('a', now)
    expect(breaker.isClosed).toBe(true)
    breaker.recordLoss('a', 20 * SECOND)
    expect(breaker.isClosed).toBe(false)
  })

  test('counts an answer half as much as a loss, and the answers of one client once in 10 s', () => {
    lose(2, 0)
    for (let time = 0; time < 10; time++) breaker.recordAnswer('a', 0)
    lose(1, 0)
    expect(breaker.isClosed).toBe(true)
    lose(1, 0)
    expect(breaker.isClosed).toBe(false)
  })

  test('does not close while its open period lasts', () => {
    lose(3, 0)
    breaker.recordAnswer(newClient(), 4999)
    expect(breaker.isClosed).toBe(false)
    breaker.recordAnswer(newClient(), 5000)
    expect(breaker.isClosed).toBe(true)
  })

  test('opens with two losses after it has closed, each time for twice as long, at most for 5 minutes', () => {
    const times: number[] = []
    for (let now = 0; times.length < 9; now += 301 * SECOND) times.push(openAndClose(now) / SECOND)
    expect(times).toEqual([5, 10, 20, 40, 80, 160, 300, 300, 300])
    lose(1, 3000 * SECOND)
    expect(breaker.isClosed).toBe(true)
    lose(1, 3000 * SECOND)
    expect(breaker.isClosed).toBe(false)
  })

  test('opens for 5 s again when it has been closed for more than 5 minutes', () => {
    expect(openAndClose(0)).toBe(5 * SECOND)
    expect(openAndClose(306 * SECOND)).toBe(5 * SECOND)
  })

  test('is probed every 5 s from the end of its open period on, whatever comes of it', () => {
    lose(3, 0)
    expect([breaker.isProbeDue(4999), breaker.isProbeDue(5000)]).toEqual([false, true])
    breaker.recordProbe(5000)
    expect([breaker.isProbeDue(9999), breaker.isProbeDue(10_000)]).toEqual([false, true])
  })
})
