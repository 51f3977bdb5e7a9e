import { create } from '@bufbuild/protobuf'
import { expect, it } from 'vitest'
import { OrderSchema, OrderState, OrderStepSchema } from '../../../gen/aggregator/v1/order_pb.js'
import { addEvent } from '../src/data/latest-events.js'
import { needsList, withEvents } from '../src/data/orders/latest-orders.js'
import { endOf } from '../src/data/orders/order-end.js'
import type { OrderEvent } from '../src/data/stream-messages.js'
import { eventOf } from './stream-event.js'

const event = (changes: Partial<OrderEvent>) =>
  eventOf({ orderId: '0xbb', blockNumber: 11, user: '0x0c', solver: '0x0d', ...changes })
const eventsFrom = (...events: OrderEvent[]) => events.reduce<readonly OrderEvent[]>(addEvent, [])

const listed = create(OrderSchema, {
  orderId: '0xaa',
  chainId: 1n,
  state: OrderState.DEPOSITED,
  deposited: { blockNumber: 10n, blockTime: 1_700_000_010n },
})
const states = (orders: ReturnType<typeof withEvents>) =>
  orders.map(({ orderId, state }) => `${orderId} ${OrderState[state]}`)

it('a deposit is the first order, and a fill and a refund change the state of theirs', () => {
  const terms = { inputToken: '0x01', inputAmount: '5', outputToken: '0x02', outputAmount: '7' }
  const orders = withEvents(
    [listed],
    eventsFrom(event(terms), event({ orderId: '0xaa', type: 'Settled', blockNumber: 12 })),
  )
  expect(states(orders)).toEqual(['0xbb DEPOSITED', '0xaa SETTLED'])
  expect(orders[0]).toMatchObject({ user: '0x0c', solver: '0x0d', ...terms, deposited: { blockNumber: 11n } })
  expect(orders[1]?.settled).toMatchObject({ blockNumber: 12n, blockTime: 1_700_000_011n })
  expect(states(withEvents(orders, eventsFrom(event({ type: 'Refunded', blockNumber: 13 }))))).toEqual([
    '0xbb REFUNDED',
    '0xaa SETTLED',
  ])
})

it('an event whose order the list has already changes nothing that is newer', () => {
  const settled = withEvents(
    [listed],
    eventsFrom(event({ orderId: '0xaa', type: 'Settled', blockNumber: 12 })),
  )
  const again = eventsFrom(event({ orderId: '0xaa', blockNumber: 10, blockTime: 1_700_000_010 }))
  expect(states(withEvents(settled, again))).toEqual(['0xaa SETTLED'])
})

it('an event of an old block adds no order', () => {
  expect(states(withEvents([listed], eventsFrom(event({ blockNumber: 9 }))))).toEqual(['0xaa DEPOSITED'])
})

it('an order whose deposit a reorganisation removed stays as such, until its deposit is mined again', () => {
  const reverted = event({ type: 'Reverted', event: 'Deposited' })
  const removed = eventsFrom(event({}), reverted)
  expect(states(withEvents([listed], removed))).toEqual(['0xbb NONE', '0xaa DEPOSITED'])
  const later = { ...listed, orderId: '0xcc', deposited: create(OrderStepSchema, { blockNumber: 12n }) }
  expect(states(withEvents([later, listed], removed))).toEqual([
    '0xcc DEPOSITED',
    '0xbb NONE',
    '0xaa DEPOSITED',
  ])
  const again = eventsFrom(event({}), reverted, event({ blockNumber: 12 }))
  expect(states(withEvents([listed], again))).toEqual(['0xbb DEPOSITED', '0xaa DEPOSITED'])
})

it.each([
  ['Deposited', '0xcc', false],
  ['Settled', '0xaa', false],
  ['Settled', '0xcc', true],
  ['Refunded', '0xcc', true],
  ['Reverted', '0xaa', true],
] as const)('%s of %s needs the list again: %s', (type, orderId, expected) => {
  expect(needsList(event({ type, orderId }), new Set(['0xaa']), [])).toBe(expected)
})

it('a fill that came at the same time as its deposit does not need the list again', () => {
  const fill = event({ type: 'Settled', orderId: '0xcc', blockNumber: 12 })
  const latestEvents = eventsFrom(event({ orderId: '0xcc' }), fill)
  expect(needsList(fill, new Set(), latestEvents)).toBe(false)
})

it('a refund says that the input is back only of a deposit that was seen, and not of a transfer to an address', () => {
  const { deposited } = listed
  const { SETTLED, REFUNDED, DEPOSITED } = OrderState
  expect(endOf({ state: SETTLED }, true)).toBe('filled')
  expect(endOf({ state: REFUNDED, deposited }, false)).toBe('refunded')
  expect([endOf({ state: REFUNDED }, false), endOf({ state: REFUNDED, deposited }, true)]).toEqual([
    'ended',
    'ended',
  ])
  expect(endOf({ state: DEPOSITED, deposited }, false)).toBeUndefined()
})
