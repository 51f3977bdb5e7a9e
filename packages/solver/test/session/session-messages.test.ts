import { expect, it } from 'vitest'
import { readMessage } from '../../src/session/session-messages.js'
import { quoteRequest } from './session-fixture.js'

const ID = 'an-id'
const LONG = 'x'.repeat(257)
const read = (message: object) => readMessage(JSON.stringify(message))

it.each<[string, object]>([
  ['sessionId', { type: 'ready', sessionId: LONG, heartbeatMs: 1_000 }],
  ['outcome', { type: 'result', id: ID, outcome: LONG }],
  ['id', { type: 'result', id: LONG, outcome: 'QUOTED' }],
  ['id', { type: 'ping', id: LONG }],
  ['id', quoteRequest(LONG)],
  ['code', { type: 'error', code: LONG, error: 'no' }],
])('an instance must not send a long %s: %j', (field, message) => {
  expect(() => read(message)).toThrow(`at ${field}`)
})

it.each([1, 999, 60_001, 600_000])('an instance must not ask for a heartbeat each %i ms', (heartbeatMs) => {
  expect(() => read({ type: 'ready', sessionId: ID, heartbeatMs })).toThrow('at heartbeatMs')
})

it('what an instance may leave out is left out when it is long, and its sentences are cut', () => {
  expect(read({ type: 'result', id: ID, outcome: 'FAILED', reason: LONG })).toMatchObject({
    reason: undefined,
  })
  const details = Array.from({ length: 100 }, () => ({ field: LONG, message: LONG }))
  const error = read({ type: 'error', code: 'NO', error: LONG, details })
  expect(error?.type === 'error' && error.error.length).toBe(1_000)
  expect(read({ type: 'error', code: 'NO', error: 'a\u001b[2J' })).toMatchObject({ error: 'a?[2J' })
})

const HOSTILE = 'a\u001b[2J\u0007\u009b\u202eb'
const CLEAN = 'a?[2J???b'

it.each<[string, object, object]>([
  ['sessionId', { type: 'ready', sessionId: HOSTILE, heartbeatMs: 1_000 }, { sessionId: CLEAN }],
  ['id', quoteRequest(HOSTILE), { id: CLEAN, request: { id: CLEAN } }],
  [
    'id, outcome and reason',
    { type: 'result', id: HOSTILE, outcome: HOSTILE, reason: HOSTILE },
    { id: CLEAN, outcome: CLEAN, reason: CLEAN },
  ],
  ['id', { type: 'ping', id: HOSTILE }, { id: CLEAN }],
  ['code and error', { type: 'error', code: HOSTILE, error: HOSTILE }, { code: CLEAN, error: CLEAN }],
])('%s of an instance cannot control a terminal', (_fields, message, clean) => {
  expect(read(message)).toMatchObject(clean)
})
