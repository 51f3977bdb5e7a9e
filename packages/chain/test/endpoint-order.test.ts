import { expect, test } from 'vitest'
import { createManualClock } from '../../../test/support/manual-clock.js'
import { createEndpointOrder } from '../src/rpc-client.js'

const ALL = ['first', 'second', 'third']

function orderOf(configured = ALL) {
  const clock = createManualClock()
  const last = new Set<string>()
  const order = createEndpointOrder(configured, clock.monotonic, (one) => (last.has(one) ? 'last' : 'own'))
  return { ...order, last, pass: clock.standStill }
}

test('an endpoint that has failed comes last for ten seconds', () => {
  const order = orderOf()
  order.markFailed('first')
  order.pass(9_999)
  expect(order.endpoints()).toEqual(['second', 'third', 'first'])
  order.pass(1)
  expect(order.endpoints()).toEqual(ALL)
})

test('when all fail, each has its turn', () => {
  const order = orderOf()
  const turns = [1, 2, 3, 4, 5].map(() => {
    const [next = ''] = order.endpoints()
    order.pass(1)
    order.markFailed(next)
    return next
  })
  expect(turns).toEqual(['first', 'second', 'third', 'first', 'second'])
})

test('one without its place comes after the others, and before those that have failed', () => {
  const order = orderOf()
  order.last.add('first')
  expect(order.endpoints()).toEqual(['second', 'third', 'first'])
  order.pass(1)
  for (const one of ['second', 'third']) order.markFailed(one)
  expect(order.endpoints()[0]).toBe('first')
})

test('a single one is always called', () => {
  const order = orderOf(['first'])
  order.markFailed('first')
  expect(order.endpoints()).toEqual(['first'])
})
