import { describe, expect, it } from 'vitest'
import { createRateLimits, type RateLimits } from '../../src/rpc/rate-limits.js'

const LIMIT = 2
const CONFIG = {
  max: LIMIT,
  windowMs: 60_000,
  quote: LIMIT,
  order: 0,
  register: 0,
  unregister: 0,
  solvers: 0,
}

/** What is left for a client after one more request; undefined when it was refused. */
async function left(limits: RateLimits, address: string): Promise<number | undefined> {
  const headers = new Map<string, string>()
  try {
    await limits.consume('quote', { address, setHeader: (name, value) => void headers.set(name, value) })
  } catch {
    return undefined
  }
  return Number(headers.get('RateLimit-Remaining'))
}

const addressOf = (index: number) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`

describe('more clients than are counted one by one', () => {
  it('share a few counts, while those that came before keep their own', async () => {
    const limits = createRateLimits(CONFIG)
    const counted = 50_000
    for (let index = 0; index < counted; index++) await left(limits, addressOf(index))

    const beyond = []
    for (let index = counted; index < counted + 1000; index++)
      beyond.push(await left(limits, addressOf(index)))
    const passed = beyond.filter((answer) => answer !== undefined)
    expect(passed.length).toBeGreaterThan(0)
    expect(passed.length).toBeLessThanOrEqual(64 * LIMIT)

    expect(await left(limits, addressOf(0))).toBe(LIMIT - 2)
    expect(await left(limits, addressOf(0))).toBeUndefined()
    expect(await left(limits, addressOf(counted - 1))).toBe(LIMIT - 2)
  })
})

it('the limits of methods and the global one are counted apart', async () => {
  const limits = createRateLimits(CONFIG)
  const client = { address: '127.0.0.1', setHeader: () => {} }
  for (const name of ['quote', 'global', 'quote', 'global'] as const) await limits.consume(name, client)
  await expect(limits.consume('quote', client)).rejects.toMatchObject({
    reason: 'RATE_LIMITED',
    retryAfterSeconds: 60,
  })
  await expect(limits.consume('global', client)).rejects.toMatchObject({ reason: 'RATE_LIMITED' })
  for (let index = 0; index < 10; index++) await limits.consume('order', client)
})
