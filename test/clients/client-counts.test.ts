import { describe, expect, test } from 'vitest'
import { ClientCounts } from '../../src/clients/client-counts.js'
import { identifyClient } from '../../src/clients/client-id.js'

/** Adds clients of these addresses until none fits. @returns their number */
function takeAll(counts: ClientCounts, addresses: readonly string[]): number {
  const before = counts.held
  for (const client of addresses.map(identifyClient))
    while (counts.fullAt(client) === undefined) counts.add(client)
  return counts.held - before
}

test.each([
  ['an IPv4 address and its mapped form', '198.51.100.1', '::ffff:198.51.100.1', true],
  ['two addresses of an IPv6 /64', '2001:db8::1', '2001:db8::ffff:1', true],
  ['two neighbouring IPv6 /64s', '2001:db8::1', '2001:db8:0:1::1', false],
])('%s are one client: %s, %s: %s', (_what, one, other, areOne) => {
  expect(identifyClient(one).key === identifyClient(other).key).toBe(areOne)
})

const many = (count: number, address: (number: number) => string) =>
  Array.from({ length: count }, (_, number) => address(number))

describe('a region', () => {
  test.each([
    [
      'four neighbouring IPv6 /48s',
      many(64, (n) => `2001:470:${1 + (n >> 4)}:${((n & 15) * 256).toString(16)}::1`),
    ],
    ['an IPv6 /32', many(200, (n) => `2001:470:${(n + 1).toString(16)}::1`)],
    ['an IPv4 /16', many(200, (n) => `203.0.${n}.7`)],
  ])('holds at most a quarter of the total: %s', (_, addresses) => {
    const counts = new ClientCounts({ perClient: 20, total: 1000 })
    expect(takeAll(counts, addresses)).toBe(250)
    expect(counts.fullAt(identifyClient(addresses.at(-1) as string))).toBe('region')
    expect(takeAll(counts, ['198.51.100.7', '2400:1::1'])).toBe(40)
  })

  test('can hold more after a place in it is free', () => {
    const counts = new ClientCounts({ perClient: 2, total: 8 })
    const [first, second] = ['203.0.113.1', '203.0.113.2'].map(identifyClient) as [never, never]
    counts.add(first)
    counts.add(first)
    expect(counts.fullAt(second)).toBe('region')
    counts.remove(first)
    expect(counts.fullAt(second)).toBeUndefined()
  })
})

describe('no region is limited', () => {
  test.each([
    ['of loopback addresses', many(50, (n) => `127.0.0.${n + 1}`)],
    ['of a private IPv4 network', many(50, (n) => `10.0.${n}.7`)],
    ['behind carrier-grade NAT', many(50, (n) => `100.64.${n}.7`)],
  ])('%s', (_, addresses) => {
    expect(takeAll(new ClientCounts({ perClient: 20, total: 1000 }), addresses)).toBe(1000)
  })

  test('when clients have no limit of their own', () => {
    const counts = new ClientCounts({ perClient: 0, total: 100 })
    expect(takeAll(counts, ['203.0.113.1'])).toBe(100)
  })
})

test('the limit of a region, like that of a network, allows at least one client', () => {
  for (const address of ['203.0.113.1', '2001:470::1'])
    expect(takeAll(new ClientCounts({ perClient: 80, total: 100 }), [address])).toBe(80)
})
