import { expect, it } from 'vitest'
import { EventType, SettledSchema, StreamEventsResponseSchema } from '../../../gen/aggregator/v1/event_pb.js'
import { ORDER_EVENT_FIELDS, ORDER_EVENT_TYPES } from '../../../packages/protocol/src/orders/event.js'

const SHARED = SettledSchema.fields
  .map(({ localName }) => localName)
  .filter((name) => !Object.hasOwn(ORDER_EVENT_FIELDS.Settled, name))

it('the stream has a message with the fields of each kind of event, and a filter for it', () => {
  const messages = ORDER_EVENT_TYPES.map((type) => {
    const field = StreamEventsResponseSchema.fields.find(({ message }) => message?.name === type)
    const names = field?.message?.fields.map(({ localName }) => localName) ?? []
    return [type, field?.localName.toUpperCase(), names.filter((name) => !SHARED.includes(name)).sort()]
  })
  expect(messages).toEqual(
    ORDER_EVENT_TYPES.map((type) => [
      type,
      EventType[EventType[type.toUpperCase() as keyof typeof EventType]],
      Object.keys(ORDER_EVENT_FIELDS[type]).sort(),
    ]),
  )
})
