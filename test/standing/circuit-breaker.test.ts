import { beforeEach, describe, expect, test } from 'vitest'
import { CircuitBreaker } from '../../src/standing/circuit-breaker.js'

const SECOND = 1000

let breaker: CircuitBreaker
let clients = 0

beforeEach(() => {
  breaker = new CircuitBreaker()
})

const newClient = () => `client ${++clients}`

/** Losses of new clients, until it is open. @returns how many */
function open(now: number): number {
  let losses = 0
  for (; breaker.isClosed; losses++) breaker.recordLoss(newClient(), now)
  return losses
}

/** How many losses open a breaker that has had these. */
function openAfter(before: () => void): number {
  breaker = new CircuitBreaker()
  before()
  return open(20 * SECOND)
}

const LOSSES = openAfter(() => {})

/** Opens it, and lets the first probe after its open period close it. @returns how long it was open */
function openAndClose(now: number): number {
  open(now)
  let closedAt = now
  while (breaker.state(closedAt) === 'open') closedAt += SECOND
  breaker.recordAnswer(newClient(), closedAt)
  return closedAt - now
}

describe('the circuit breaker', () => {
  test('opens with the losses of three clients, for 5 s', () => {
    expect(open(0)).toBe(3)
    expect([breaker.state(0), breaker.state(4999), breaker.state(5000)]).toEqual([
      'open',
      'open',
      'half-open',
    ])
  })

  test('counts a client once in 10 s', () => {
    const lossesAfter = (...times: number[]) =>
      openAfter(() => {
        for (const now of times) breaker.recordLoss('a', now)
      })
    expect([lossesAfter(0, 9999), lossesAfter(0, 9999, 10_000)]).toEqual([LOSSES - 1, LOSSES - 2])
  })

  test('counts an answer half as much as a loss, and the answers of one client once in 10 s', () => {
    const lossesAfterTwoAndAnswersOf = (...clients: string[]) =>
      openAfter(() => {
        for (const client of ['a', 'b']) breaker.recordLoss(client, 0)
        for (const client of clients) breaker.recordAnswer(client, 0)
      })
    const ofOne = lossesAfterTwoAndAnswersOf(...Array(10).fill('c'))
    const left = [ofOne, lossesAfterTwoAndAnswersOf('c', 'd'), lossesAfterTwoAndAnswersOf('c', 'd', 'e')]
    expect(left).toEqual([LOSSES - 1, LOSSES - 1, LOSSES])
  })

  test('does not close while its open period lasts', () => {
    open(0)
    breaker.recordAnswer(newClient(), 4999)
    expect(breaker.isClosed).toBe(false)
    breaker.recordAnswer(newClient(), 5000)
    expect(breaker.isClosed).toBe(true)
  })

  test('opens with a loss less after it has closed, each time for twice as long, at most for 5 minutes', () => {
    const times: number[] = []
    for (let now = 0; times.length < 9; now += 301 * SECOND) times.push(openAndClose(now) / SECOND)
    expect(times).toEqual([5, 10, 20, 40, 80, 160, 300, 300, 300])
    expect(open(3000 * SECOND)).toBe(LOSSES - 1)
  })

  test('opens for 5 s again when it has been closed for more than 5 minutes', () => {
    expect(openAndClose(0)).toBe(5 * SECOND)
    expect(openAndClose(306 * SECOND)).toBe(5 * SECOND)
  })

  test('is probed every 5 s from the end of its open period on, whatever comes of it', () => {
    open(0)
    expect([breaker.isProbeDue(4999), breaker.isProbeDue(5000)]).toEqual([false, true])
    breaker.recordProbe(5000)
    expect([breaker.isProbeDue(9999), breaker.isProbeDue(10_000)]).toEqual([false, true])
  })
})
