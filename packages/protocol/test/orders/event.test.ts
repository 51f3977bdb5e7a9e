import { describe, expect, test } from 'vitest'
import {
  type Deposited,
  EVERY_EVENT,
  type EventFilter,
  matches,
  type OrderEventType,
  type Refunded,
  type Reverted,
  type Settled,
  type StreamEvent,
} from '../../src/orders/event.js'

const base = {
  chainId: 1,
  orderId: '0x0a',
  user: '0x0b',
  solver: '0x0c',
  blockNumber: 7,
  logIndex: 2,
  transactionHash: '0x7a',
  blockTime: 1_700_000_000,
} as const
const deposited: Deposited = {
  ...base,
  type: 'Deposited',
  inputToken: '0x01',
  inputAmount: 1n,
  outputToken: '0x02',
  outputAmount: 2n,
  fillDeadline: 1_800_000_000,
}
const settled: Settled = { ...base, type: 'Settled' }
const refunded: Refunded = { ...base, type: 'Refunded', inputAmount: 1n, bondSlashed: 2n }
const reverted = (event: OrderEventType): Reverted => ({ ...base, type: 'Reverted', event })

const everyType: StreamEvent[] = [
  deposited,
  settled,
  refunded,
  reverted('Deposited'),
  reverted('Settled'),
  reverted('Refunded'),
]

function filter(changes: Partial<EventFilter>): EventFilter {
  return { ...EVERY_EVENT, ...changes }
}

/** The types of the events that pass; for a reversion, with the type of its event. */
function passing(types: StreamEvent['type'][]): string[] {
  return everyType
    .filter((event) => matches(filter({ types: new Set(types) }), event))
    .map((event) => (event.type === 'Reverted' ? `Reverted ${event.event}` : event.type))
}

test('every event passes the empty filter', () => {
  const events = [...everyType, { ...settled, solver: undefined }]
  expect(events.filter((event) => matches(EVERY_EVENT, event))).toEqual(events)
})

/** For each kind of filter: one of two values that matches, one that does not, and a change after which the first does not match. */
const kinds: [string, Partial<EventFilter>, Partial<EventFilter>, Partial<Settled>][] = [
  ['chains', { chainIds: new Set([1, 2]) }, { chainIds: new Set([3]) }, { chainId: 3 }],
  [
    'orders',
    { orderIds: new Set(['0x0a', '0x2a']) },
    { orderIds: new Set(['0x0b', '0x0c']) },
    { orderId: '0x1a' },
  ],
  ['users', { users: new Set(['0x0b', '0x2b']) }, { users: new Set(['0x0a', '0x0c']) }, { user: '0x1b' }],
  [
    'solvers',
    { solvers: new Set(['0x0c', '0x2c']) },
    { solvers: new Set(['0x0a', '0x0b']) },
    { solver: '0x1c' },
  ],
]

describe.each(kinds)('a filter of %s', (_kind, wanted, unwanted, other) => {
  test('passes the events that it names, of every type', () => {
    expect(everyType.filter((event) => matches(filter(wanted), event))).toEqual(everyType)
  })

  test('rejects all other events, of every type', () => {
    expect(everyType.filter((event) => matches(filter(unwanted), event))).toEqual([])
    const others = everyType.map((event) => ({ ...event, ...other }) as StreamEvent)
    expect(others.filter((event) => matches(filter(wanted), event))).toEqual([])
  })
})

describe('a filter of types', () => {
  test.each([
    ['Deposited', ['Deposited', 'Reverted Deposited']],
    ['Settled', ['Settled', 'Reverted Settled']],
    ['Refunded', ['Refunded', 'Reverted Refunded']],
  ] as const)('passes %s, and the reversion of each', (type, expected) => {
    expect(passing([type])).toEqual(expected)
  })

  test('passes reversions by their own type, whatever type they revert', () => {
    expect(passing(['Reverted'])).toEqual(['Reverted Deposited', 'Reverted Settled', 'Reverted Refunded'])
  })

  test('passes each of its types', () => {
    const ofTwo = ['Deposited', 'Refunded', 'Reverted Deposited', 'Reverted Refunded']
    expect(passing(['Deposited', 'Refunded'])).toEqual(ofTwo)
    const withReverted = ['Settled', 'Reverted Deposited', 'Reverted Settled', 'Reverted Refunded']
    expect(passing(['Settled', 'Reverted'])).toEqual(withReverted)
  })
})

describe('several filters together', () => {
  const all = filter(Object.assign({ types: new Set(['Settled']) }, ...kinds.map(([, wanted]) => wanted)))

  test('pass an event that matches all of them, and its reversion', () => {
    expect(matches(all, settled)).toBe(true)
    expect(matches(all, reverted('Settled'))).toBe(true)
  })

  test.each(kinds)(
    'reject an event that matches all but the filter of %s',
    (_kind, _wanted, unwanted, other) => {
      expect(matches({ ...all, ...unwanted }, settled)).toBe(false)
      expect(matches(all, { ...settled, ...other })).toBe(false)
      expect(matches(all, { ...reverted('Settled'), ...other, type: 'Reverted' })).toBe(false)
    },
  )

  test('reject an event that matches all but the filter of types, and its reversion', () => {
    expect(matches(all, refunded)).toBe(false)
    expect(matches(all, reverted('Refunded'))).toBe(false)
  })
})

describe('an event without a known solver', () => {
  const solverless: Settled = { ...settled, solver: undefined }

  test('passes no filter of solvers, and neither does its reversion', () => {
    const bySolver = filter({ solvers: new Set(['0x0c']) })
    expect(matches(bySolver, solverless)).toBe(false)
    expect(matches(bySolver, { ...reverted('Settled'), solver: undefined })).toBe(false)
  })

  test('passes the other filters', () => {
    const others = filter({ chainIds: new Set([1]), users: new Set(['0x0b']), types: new Set(['Settled']) })
    expect(matches(others, solverless)).toBe(true)
  })
})
