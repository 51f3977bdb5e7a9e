import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import { identifyClient } from '../../../src/clients/client-id.js'
import { createRateLimits, type RateLimits } from '../../../src/rpc/limits/rate-limits.js'
import { createManualClock } from '../../support/manual-clock.js'

const LIMIT = 2
const CONFIG = {
  max: LIMIT,
  windowMs: 60_000,
  quote: LIMIT,
  price: 0,
  order: 0,
  register: 0,
  unregister: 0,
  solvers: 0,
  results: 0,
  streams: 0,
  sessions: 0,
}

/** The remaining requests of a client after one more; undefined when it was rejected. */
async function left(limits: RateLimits, address: string): Promise<number | undefined> {
  const headers = new Map<string, string>()
  try {
    await limits.consume('quote', {
      client: identifyClient(address),
      setHeader: (name, value) => void headers.set(name, value),
    })
  } catch {
    return undefined
  }
  return Number(headers.get('ratelimit-remaining'))
}

/** An address of one of 64 regions, each an IPv4 /16. */
const addressOf = (index: number) => `10.${index & 63}.${(index >> 14) & 255}.${(index >> 6) & 255}`
const subnetOf = (site: number, subnet: number) => `2001:db8:${site.toString(16)}:${subnet.toString(16)}::1`

async function fill(count: number, limits: RateLimits, address: (index: number) => string): Promise<number> {
  let accepted = 0
  for (let index = 0; index < count; index++)
    if ((await left(limits, address(index))) !== undefined) accepted++
  return accepted
}

describe('clients beyond the limit of separate counts', () => {
  it('share a few counts, while earlier clients and those of the other IP version keep their own', async () => {
    const limits = createRateLimits(CONFIG, systemClock)
    const counted = 50_000
    await fill(counted, limits, addressOf)

    const passed = await fill(1000, limits, (index) => addressOf(counted + index))
    expect(passed).toBeGreaterThan(0)
    expect(passed).toBeLessThanOrEqual(64 * LIMIT)

    expect(await left(limits, addressOf(0))).toBe(LIMIT - 2)
    expect(await left(limits, addressOf(0))).toBeUndefined()
    expect(await left(limits, addressOf(counted - 1))).toBe(LIMIT - 2)
    expect(await left(limits, '2001:db8::1')).toBe(LIMIT - 1)
  })

  it.each([
    ['an IPv4 /16', (index: number) => `10.0.${index >> 8}.${index & 255}`, '10.1.0.1'],
    ['an IPv6 /32', (index: number) => `2001:db8:${index.toString(16)}::1`, '2001:db9::1'],
    ['an IPv6 /48', (index: number) => subnetOf(1, index), subnetOf(2, 1)],
  ])('of %s share the counts of that network and do not affect others', async (_, address, elsewhere) => {
    const maxClients = 80
    const limits = createRateLimits(CONFIG, systemClock, { maxClients })
    const accepted = await fill(5000, limits, address)
    expect(accepted).toBeLessThanOrEqual(maxClients / 8 + 16 * LIMIT)
    for (const other of [elsewhere, '192.0.2.1', '2001:dba::1']) {
      expect(await left(limits, other)).toBe(LIMIT - 1)
      expect(await left(limits, other)).toBe(LIMIT - 2)
    }
    expect(await left(limits, address(0))).toBe(LIMIT - 2)
  })
})

describe('an IPv6 network', () => {
  it('has four times the limit of a client for a /56, sixteen times for a /48', async () => {
    const limits = createRateLimits(CONFIG, systemClock)
    expect(await fill(256, limits, (index) => subnetOf(1, index))).toBe(4 * LIMIT)
    expect(await fill(2048, limits, (index) => subnetOf(2, index * 32))).toBe(16 * LIMIT)
    expect(await left(limits, subnetOf(3, 0))).toBe(LIMIT - 1)
    expect(await left(limits, '192.0.2.1')).toBe(LIMIT - 1)
  })

  it('is not charged for the requests of a client above its own limit', async () => {
    const limits = createRateLimits(CONFIG, systemClock)
    expect(await fill(100, limits, () => subnetOf(1, 0))).toBe(LIMIT)
    expect(await fill(256, limits, (index) => subnetOf(1, index))).toBe(3 * LIMIT)
  })

  it('is named in the rejection, with its own count in the headers', async () => {
    const limits = createRateLimits(CONFIG, systemClock)
    await fill(256, limits, (index) => subnetOf(1, index))
    const headers = new Map<string, string>()
    const client = {
      client: identifyClient(subnetOf(1, 9)),
      setHeader: (name: string, value: string) => void headers.set(name, value),
    }
    await expect(limits.consume('quote', client)).rejects.toMatchObject({
      reason: 'RATE_LIMITED',
      message: expect.stringContaining('of this IPv6 /56: at most 8'),
      retryAfterSeconds: 60,
    })
    expect(Object.fromEntries(headers)).toEqual({
      'ratelimit-limit': '8',
      'ratelimit-remaining': '0',
      'ratelimit-reset': '60',
      'retry-after': '60',
    })
  })

  it('has all of its requests again a window later, also when the time of day was set back by an hour meanwhile', async () => {
    const clock = createManualClock()
    const limits = createRateLimits(CONFIG, clock)
    await fill(256, limits, (index) => subnetOf(1, index))
    clock.set(clock.now() - 3_600_000)
    await clock.advance(CONFIG.windowMs - 1)
    expect(await left(limits, subnetOf(1, 99))).toBeUndefined()
    await clock.advance(1)
    expect(await left(limits, subnetOf(1, 99))).toBe(LIMIT - 1)
  })
})

it('the limits of methods and the global one are counted separately', async () => {
  const limits = createRateLimits(CONFIG, systemClock)
  const client = { client: identifyClient('127.0.0.1'), setHeader: () => {} }
  for (const name of ['quote', 'global', 'quote', 'global'] as const) await limits.consume(name, client)
  await expect(limits.consume('quote', client)).rejects.toMatchObject({
    reason: 'RATE_LIMITED',
    retryAfterSeconds: 60,
  })
  await expect(limits.consume('global', client)).rejects.toMatchObject({ reason: 'RATE_LIMITED' })
  for (let index = 0; index < 10; index++) await limits.consume('order', client)
})
