import { expect, it } from 'vitest'
import { addEvent, type ShownEvent } from '../src/data/latest-events.js'
import type { OrderEvent } from '../src/data/stream-messages.js'

const event = (changes: Partial<OrderEvent>): OrderEvent => ({
  type: 'Deposited',
  chainId: 1,
  orderId: '0xaa',
  blockNumber: 10,
  logIndex: 0,
  cursor: 'c',
  transactionHash: '0x01',
  ...changes,
})
const reverted = (of: OrderEvent) => event({ ...of, type: 'Reverted', event: of.type as OrderEvent['event'] })
const lines = (latestEvents: readonly ShownEvent[]) =>
  latestEvents.map(
    (entry) =>
      `${entry.event.type} ${entry.event.blockNumber}${entry.removedAt === undefined ? '' : ' removed'}`,
  )

it('the newest event is at the top', () => {
  const latestEvents = addEvent(addEvent([], event({}), 1), event({ type: 'Settled', blockNumber: 11 }), 2)
  expect(lines(latestEvents)).toEqual(['Settled 11', 'Deposited 10'])
})

it('a removed event stays where it is and is marked', () => {
  const first = addEvent(addEvent([], event({}), 1), event({ orderId: '0xbb', blockNumber: 11 }), 2)
  expect(lines(addEvent(first, reverted(event({})), 3))).toEqual(['Deposited 11', 'Deposited 10 removed'])
})

it('an event that comes back in another block is a line of its own', () => {
  const removed = addEvent(addEvent([], event({}), 1), reverted(event({})), 2)
  const back = addEvent(removed, event({ blockNumber: 12 }), 3)
  expect(lines(back)).toEqual(['Deposited 12', 'Deposited 10 removed'])
  expect(lines(addEvent(back, event({}), 4))).toEqual([
    'Deposited 10',
    'Deposited 12',
    'Deposited 10 removed',
  ])
})

it('the removal of an event from before the console was opened is a line too', () => {
  expect(lines(addEvent([], reverted(event({ type: 'Settled' })), 1))).toEqual(['Settled 10 removed'])
})

it('an event that comes twice is one line', () => {
  expect(lines(addEvent(addEvent([], event({}), 1), event({}), 2))).toEqual(['Deposited 10'])
})
