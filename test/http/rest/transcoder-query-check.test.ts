import { expect, test } from 'vitest'
import { EventService } from '../../../gen/aggregator/v1/event_pb.js'
import { createQueryCheck } from '../../../src/http/rest/transcoder.js'

const { fields } = EventService.method.streamEvents.input
const check = createQueryCheck(fields)

test('every field is a parameter, by its name in JSON and in the proto', () => {
  const names = fields.flatMap((field) => [field.jsonName, field.name])
  expect(names).toContain('chain_id')
  expect(check(Object.fromEntries(names.map((name) => [name, '1'])))).toEqual([])
})

test.each(['chainid', 'solver[]', '', '__proto__', 'constructor'])('%j is not a parameter', (name) => {
  const query = JSON.parse(`{${JSON.stringify(name)}:"1"}`)
  const message = 'is not a parameter of this path: use after, chainId, type, orderId, user, solver, health'
  expect(check(query)).toEqual([{ field: name, message }])
})

test('many, long or unprintable names are not repeated in full', () => {
  const query = Object.fromEntries(
    Array.from({ length: 100 }, (_, index) => [`\u202e${index}${'x'.repeat(9999)}`, '']),
  )
  const violations = check(query)
  expect(violations).toHaveLength(16)
  for (const { field } of violations) expect(field).toMatch(/^\?[0-9]+x+$/)
  expect(Math.max(...violations.map(({ field }) => field.length))).toBe(64)
})
