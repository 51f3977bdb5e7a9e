import { expect, test } from 'vitest'
import {
  EventType,
  type StreamEventsRequest,
  StreamEventsRequestSchema,
} from '../../../gen/aggregator/v1/event_pb.js'
import { compileJsonReader } from '../../../src/http/rest/proto-json.js'

const reader = compileJsonReader(StreamEventsRequestSchema)

/** Reads the filters of the event stream, which are lists. */
function readFilters(json: Readonly<Record<string, unknown>>) {
  const { message, violations } = reader.read((field) => json[field.jsonName])
  return { message: message as unknown as StreamEventsRequest, violations }
}

test('a list may be a single value, as in a query with one', () => {
  const { message, violations } = readFilters({ chainId: '8453', type: 'Settled', user: '0xA' })
  expect(violations).toEqual([])
  expect(message).toMatchObject({ chainId: [8453n], type: [EventType.SETTLED], user: ['0xA'] })
})

test('a list may be several values, which keep their order', () => {
  const { message, violations } = readFilters({
    chainId: ['8453', '1', 8453],
    type: ['Reverted', 'Deposited'],
    user: ['0xB', '0xA', ''],
  })
  expect(violations).toEqual([])
  expect(message).toMatchObject({
    chainId: [8453n, 1n, 8453n],
    type: [EventType.REVERTED, EventType.DEPOSITED],
    user: ['0xB', '0xA', ''],
  })
})

test.each([undefined, null, []])('a list is empty when it is %j', (value) => {
  const { message, violations } = readFilters({ chainId: value, type: value, user: value })
  expect(violations).toEqual([])
  expect(message).toMatchObject({ chainId: [], type: [], orderId: [], user: [], solver: [] })
})

const TYPE_MUST_BE = 'must be Deposited or Settled or Refunded or Reverted'

test.each([
  ['chainId', ['1', 'x', '2'], 'must be an integer of 0 to 2^53-1'],
  ['chainId', ['1', null], 'must be an integer of 0 to 2^53-1'],
  ['chainId', [['1', '2']], 'must be an integer of 0 to 2^53-1'],
  ['type', ['Settled', 'settled'], TYPE_MUST_BE],
  ['type', 2, TYPE_MUST_BE],
  ['user', ['0xA', 7], 'must be a string'],
])('%s is not set when any of its values is invalid: %j', (field, value, message) => {
  const { message: read, violations } = readFilters({ solver: '0xC', [field]: value })
  expect(violations).toEqual([{ field, message }])
  expect(read).toMatchObject({ solver: ['0xC'], [field]: [] })
})
