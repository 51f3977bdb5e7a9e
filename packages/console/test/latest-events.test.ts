import { expect, it } from 'vitest'
import { addEvent } from '../src/data/latest-events.js'
import type { OrderEvent } from '../src/data/stream-messages.js'
import { eventOf as event } from './stream-event.js'

const reverted = (of: OrderEvent) => event({ ...of, type: 'Reverted', event: of.type as OrderEvent['event'] })
const lines = (...events: OrderEvent[]) =>
  events.reduce<readonly OrderEvent[]>(addEvent, []).map(({ type, blockNumber }) => `${type} ${blockNumber}`)

it('the newest event is at the top', () => {
  expect(lines(event({}), event({ type: 'Settled', blockNumber: 11 }))).toEqual([
    'Settled 11',
    'Deposited 10',
  ])
})

it('the removal of an event takes its place, and the event may come back in another block', () => {
  const other = event({ orderId: '0xbb', blockNumber: 11 })
  expect(lines(event({}), other, reverted(event({})))).toEqual(['Reverted 10', 'Deposited 11'])
  expect(lines(event({}), reverted(event({})), event({ blockNumber: 12 }))).toEqual([
    'Deposited 12',
    'Reverted 10',
  ])
  expect(lines(reverted(event({ type: 'Settled' })))).toEqual(['Reverted 10'])
})

it('an event that comes twice is one line', () => {
  expect(lines(event({}), event({}))).toEqual(['Deposited 10'])
})
