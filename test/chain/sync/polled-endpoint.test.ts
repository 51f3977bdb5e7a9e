import { describe, expect, test } from 'vitest'
import type { Endpoint } from '../../../packages/chain/src/rpc-endpoint.js'
import { createEndpointSelector, createHeadSubscriptions } from '../../../src/chain/sync/polled-endpoint.js'
import { createManualClock } from '../../support/manual-clock.js'

const [first, second, third] = ['first', 'second', 'third'].map((name) => ({ name }) as unknown as Endpoint)
const ALL = [first, second, third] as Endpoint[]

function select(endpoints = ALL) {
  const clock = createManualClock()
  const displaced = new Set<Endpoint>()
  const hasPlace = (endpoint: Endpoint) => !displaced.has(endpoint)
  return { ...createEndpointSelector(endpoints, hasPlace, clock), displaced, pass: clock.standStill }
}

describe('the endpoint', () => {
  test('is the first one as long as it answers', () => {
    const choice = select()
    for (let minute = 0; minute < 10; minute++) {
      choice.pass(61_000)
      expect(choice.next(true)).toBe(first)
    }
  })

  test('is the next one after a failure, and the first one again after the last', () => {
    const choice = select()
    const chosen = [1, 2, 3].map(() => {
      choice.markFailed()
      return choice.next(false)
    })
    expect(chosen).toEqual([second, third, first])
    expect([choice.current(), choice.index()]).toEqual([first, 0])
  })

  test('is the first one again after a minute, when the other one answers', () => {
    const choice = select()
    choice.markFailed()
    choice.pass(59_000)
    expect(choice.next(true)).toBe(second)
    choice.pass(2000)
    expect(choice.next(false)).toBe(second)
    expect(choice.next(true)).toBe(first)
  })

  test('is the first one that has its place, at once, and the first of all when that has its place again', () => {
    const choice = select()
    choice.displaced.add(first as Endpoint).add(second as Endpoint)
    expect(choice.next(true)).toBe(third)
    choice.displaced.clear()
    expect(choice.next(true)).toBe(third)
    choice.pass(61_000)
    expect(choice.next(true)).toBe(first)
  })

  test('is also one without its place after the others have failed', () => {
    const choice = select([first, second] as Endpoint[])
    choice.displaced.add(first as Endpoint)
    expect(choice.next(true)).toBe(second)
    choice.markFailed()
    expect(choice.next(false)).toBe(first)
    expect(choice.next(true)).toBe(second)
  })

  test('stays the same when there is only one', () => {
    const choice = select([first as Endpoint])
    choice.markFailed()
    choice.pass(100_000)
    expect(choice.next(true)).toBe(first)
  })
})

test('a node pushes heads once one has come: some accept a subscription, and push nothing', async () => {
  let push = (_head: object) => {}
  let lose = () => {}
  const endpoint = {
    async subscribeToHeads(onHead: typeof push, onEnd: typeof lose) {
      push = onHead
      lose = onEnd
      return true
    },
  } as unknown as Endpoint
  const selector = { current: () => endpoint, index: () => 0, next: () => endpoint, markFailed() {} }
  const log = { debug() {} } as never
  const subscriptions = createHeadSubscriptions(1, selector, () => {}, log)
  const state = () => [subscriptions.has(endpoint), subscriptions.isPushing(endpoint)]
  await subscriptions.subscribe(endpoint, () => {})
  expect(state()).toEqual([true, false])
  push({})
  expect(state()).toEqual([true, true])
  lose()
  push({})
  expect(state()).toEqual([false, false])
})
