import { expect, test } from 'vitest'
import { createManualClock } from '../../../test/support/manual-clock.js'
import { RpcError } from '../src/json-rpc.js'
import { createEndpointOrder } from '../src/rpc-client.js'

const ALL = ['first', 'second', 'third']

function orderOf(configured = ALL) {
  const clock = createManualClock()
  const last = new Set<string>()
  const ofOtherChain = new Set<string>()
  const order = createEndpointOrder(configured, clock.monotonic, (one) =>
    ofOtherChain.has(one) ? 'OTHER_CHAIN' : last.has(one) ? 'LAGS' : undefined,
  )
  return { ...order, last, ofOtherChain, pass: clock.standStill }
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

test('work goes to one after the other until it succeeds, but not to one of another chain', async () => {
  const { inOrder, ofOtherChain, endpointsToVerify, last } = orderOf()
  last.add('first')
  ofOtherChain.add('second')
  const seen: unknown[] = []
  const work = async (one: string) => {
    if (one === 'third') throw new Error('no connection')
    return one
  }
  expect(await inOrder(work, (error, one) => void seen.push(one, String(error)))).toBe('first')
  expect(seen).toEqual(['third', 'Error: no connection'])
  for (const one of ALL) ofOtherChain.add(one)
  await expect(inOrder(work, () => {})).rejects.toThrow('no endpoint serves the chain')
  expect(endpointsToVerify()).toEqual(['first'])
})

test('when the work fails at all, an answer counts more than none, and a failure can end it', async () => {
  const { inOrder } = orderOf()
  const tried: string[] = []
  const work = async (one: string) => {
    tried.push(one)
    throw one === 'second' ? new RpcError('answered', 'it says no') : new RpcError('lost', 'no connection')
  }
  await expect(inOrder(work, () => {})).rejects.toThrow('it says no')
  const end = inOrder(work, (error) => {
    throw error
  })
  await expect(end).rejects.toThrow('no connection')
  expect(tried).toEqual([...ALL, 'first'])
})
