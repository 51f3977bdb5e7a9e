import { expect, it } from 'vitest'
import { readMessage } from '../../src/session/session-messages.js'
import { quoteRequest, startSession } from './session-fixture.js'

const ID = 'an-id'
const ORDER_ID = `0x${'22'.repeat(32)}`
const LONG = 'x'.repeat(257)
const read = (message: object) => readMessage(JSON.stringify(message))

it.each<[string, object]>([
  ['cursor', { type: 'event', event: { type: 'Deposited' }, cursor: LONG }],
  ['type', { type: 'event', event: { type: LONG }, cursor: 'c' }],
  ['sessionId', { type: 'ready', sessionId: LONG, heartbeatMs: 1_000 }],
  ['outcome', { type: 'result', id: ID, outcome: LONG }],
  ['id', { type: 'result', id: LONG, outcome: 'QUOTED' }],
  ['id', { type: 'ping', id: LONG }],
  ['id', quoteRequest(LONG)],
  ['code', { type: 'error', code: LONG, error: 'no' }],
])('an instance must not send a long %s: %j', (field, message) => {
  expect(() => read(message)).toThrow(`${field} is missing or not valid`)
})

it.each([1, 999, 60_001, 600_000])('an instance must not ask for a heartbeat each %i ms', (heartbeatMs) => {
  expect(() => read({ type: 'ready', sessionId: ID, heartbeatMs })).toThrow(
    'heartbeatMs is missing or not valid',
  )
})

it('what an instance may leave out is left out when it is long, and its sentences are cut', () => {
  const ready = { type: 'ready', sessionId: ID, heartbeatMs: 1_000, cursor: LONG }
  expect(read(ready)).toEqual({ ...ready, cursor: undefined })
  expect(read({ type: 'result', id: ID, outcome: 'FAILED', reason: LONG })).toMatchObject({
    reason: undefined,
  })
  expect(read(quoteRequest(ID, { traceparent: LONG }))).toMatchObject({ request: { traceparent: undefined } })
  const details = Array.from({ length: 100 }, () => ({ field: LONG, message: LONG }))
  const error = read({ type: 'error', code: 'NO', error: LONG, details })
  expect(error?.type === 'error' && error.error.length).toBe(1_000)
  expect(read({ type: 'error', code: 'NO', error: 'a\u001b[2J' })).toMatchObject({ error: 'a?[2J' })
})

it('of an event, what the kit reads is taken, and only when it is what it must be', () => {
  const event = { type: 'Deposited', chainId: 1, orderId: ORDER_ID }
  const taken = (changes: object) => read({ type: 'event', event: { ...event, ...changes }, cursor: 'c' })
  expect(taken({ user: LONG })).toEqual({ type: 'event', event, cursor: 'c' })
  expect(taken({ chainId: '1', orderId: `0x${LONG}` })).toEqual({
    type: 'event',
    event: { type: 'Deposited', chainId: undefined, orderId: undefined },
    cursor: 'c',
  })
})

it('a cursor that no hello can carry ends its session, and the next hello has the one before', async () => {
  const { opened, losses, timers } = await startSession({ events: {} })
  const instance = await opened(0, 'c0')
  instance.send({ type: 'event', event: { type: 'Settled' }, cursor: 'y'.repeat(5_000) })
  await expect
    .poll(() => losses.map(({ message }) => message))
    .toEqual(['the instance has sent what is not a message: cursor is missing or not valid'])
  timers.fire(100)
  expect((await opened(1)).received[0].events).toEqual({ after: 'c0' })
})
