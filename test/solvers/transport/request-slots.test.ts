import { beforeEach, describe, expect, test } from 'vitest'
import { RequestSlots } from '../../../src/solvers/transport/request-slots.js'

let slots: RequestSlots

beforeEach(() => {
  slots = new RequestSlots(2)
})

const wait = () => slots.wait(new AbortController().signal)

describe('slots', () => {
  test('are given at once while some are free, and then in the order of the requests', async () => {
    expect([slots.tryTake(), slots.tryTake(), slots.tryTake()]).toEqual([true, true, false])
    const waiting = [wait(), wait()]
    expect([slots.isFull, slots.waiting]).toEqual([true, 2])
    slots.release(10, 20)
    slots.release(10, 30)
    expect(await Promise.all(waiting)).toEqual([20, 30])
    expect([slots.isFull, slots.waiting]).toEqual([true, 0])
    slots.release(20, 40)
    expect(slots.isFull).toBe(false)
  })

  test('are not given to a request that no longer waits', async () => {
    slots.tryTake()
    slots.tryTake()
    const controller = new AbortController()
    const gone = slots.wait(controller.signal)
    const next = wait()
    controller.abort()
    expect([await gone, slots.waiting]).toEqual([undefined, 1])
    slots.release(0, 10)
    expect(await next).toBe(10)
  })

  test('stay with a request whose signal is aborted after it got its slot', async () => {
    slots.tryTake()
    slots.tryTake()
    const controller = new AbortController()
    const waiting = slots.wait(controller.signal)
    slots.release(0, 10)
    controller.abort()
    expect([await waiting, slots.isFull]).toEqual([10, true])
  })

  test('are not waited for with a signal that is aborted already', async () => {
    slots.tryTake()
    slots.tryTake()
    expect([await slots.wait(AbortSignal.abort()), slots.waiting]).toEqual([undefined, 0])
  })
})

describe('whether a request can be served in time', () => {
  const fill = () => {
    slots.tryTake()
    slots.tryTake()
  }

  test('is true while a slot is free', () => {
    expect(slots.canServe(0, 0)).toBe(true)
  })

  test('is false while the usual time of requests is unknown', () => {
    fill()
    expect(slots.canServe(1, 1_000_000)).toBe(false)
  })

  test('follows from the usual time of requests and from the requests that wait', () => {
    slots.tryTake()
    slots.release(-100, 0)
    fill()
    // One of the two slots becomes free within 50. A request takes 100, or 120 with the safety factor.
    expect([slots.canServe(70, 239), slots.canServe(70, 240)]).toEqual([false, true])
    void wait()
    expect([slots.canServe(70, 289), slots.canServe(70, 290)]).toEqual([false, true])
  })

  test('is false when as many requests wait as there are slots', () => {
    slots.tryTake()
    slots.release(-1, 0)
    fill()
    void wait()
    void wait()
    expect(slots.canServe(1, 1_000_000)).toBe(false)
  })
})
