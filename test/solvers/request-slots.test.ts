import { beforeEach, describe, expect, test } from 'vitest'
import { RequestSlots } from '../../src/solvers/request-slots.js'

let slots: RequestSlots
let started: [name: string, now: number][]

beforeEach(() => {
  slots = new RequestSlots(2)
  started = []
})

const user = (name: string) => ({ start: (now: number) => void started.push([name, now]) })

describe('slots', () => {
  test('are given at once while some are free, and then in the order of the requests', () => {
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(user)
    for (const one of [a, b, c, d]) if (one !== undefined) slots.add(one, 10)
    expect(started).toEqual([
      ['a', 10],
      ['b', 10],
    ])
    expect([slots.isFull, slots.waiting]).toEqual([true, 2])
    slots.release(10, 20)
    slots.release(10, 30)
    expect(started.slice(2)).toEqual([
      ['c', 20],
      ['d', 30],
    ])
    expect([slots.isFull, slots.waiting]).toEqual([true, 0])
    slots.release(20, 40)
    expect(slots.isFull).toBe(false)
  })

  test('are not given to a request that no longer waits', () => {
    const gone = user('gone')
    for (const one of [user('a'), user('b'), gone, user('next')]) slots.add(one, 0)
    slots.remove(gone)
    slots.release(0, 10)
    expect(started.at(-1)).toEqual(['next', 10])
  })
})

describe('whether a request can be served in time', () => {
  const fill = (now: number) => {
    slots.add(user('a'), now)
    slots.add(user('b'), now)
  }

  test('is true while a slot is free', () => {
    expect(slots.canServe(0, 0)).toBe(true)
  })

  test('is false while the usual time of requests is unknown', () => {
    fill(0)
    expect(slots.canServe(1, 1_000_000)).toBe(false)
  })

  test('follows from the usual time of requests and from the requests that wait', () => {
    slots.add(user('first'), -100)
    slots.release(-100, 0)
    slots.add(user('a'), 0)
    slots.add(user('b'), 60)
    // Slot a is free at 100, b at 160. A request takes 100, or 120 with the safety factor.
    expect([slots.canServe(70, 219), slots.canServe(70, 220)]).toEqual([false, true])
    slots.add(user('c'), 70)
    expect([slots.canServe(70, 279), slots.canServe(70, 280)]).toEqual([false, true])
  })

  test('is false when as many requests wait as there are slots', () => {
    slots.add(user('first'), -1)
    slots.release(-1, 0)
    fill(0)
    fill(0)
    expect(slots.canServe(1, 1_000_000)).toBe(false)
  })
})
