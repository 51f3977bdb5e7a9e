import { describe, expect, test } from 'vitest'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import { LIMITS, LIMITS_OF_USERS, type LimitName } from '../../../src/clients/api-key.js'
import { ClientCounts } from '../../../src/clients/client-counts.js'
import type { ClientId } from '../../../src/clients/client-id.js'
import { identifyClient } from '../../../src/clients/client-id.js'
import { createRateLimits, type RateLimits } from '../../../src/rpc/limits/rate-limits.js'
import { createStreamSlots } from '../../../src/rpc/limits/stream-slots.js'
import { createChecks } from '../../../src/rpc/middleware.js'
import { createMetrics } from '../../../src/telemetry/metrics.js'
import { ADDRESS, newKey, openRing } from './key-samples.js'

const CONFIG = {
  max: 3,
  windowMs: 1000,
  ...Object.fromEntries(LIMITS.map((name) => [name, 2])),
} as Parameters<typeof createRateLimits>[0]
const acme = newKey('acme')
const own = newKey('own', { quote: 5, order: 0, 'open-streams': 3, replays: 1 })

interface Answer {
  /** The reason of the error, or `ok`. */
  readonly outcome: string
  readonly limit: string | undefined
  readonly remaining: string | undefined
}

async function ask(limits: RateLimits, client: ClientId, name: LimitName = 'quote'): Promise<Answer> {
  const headers = new Map<string, string>()
  const outcome = await limits
    .consume(name, { client, setHeader: (key, value) => void headers.set(key, value) })
    .then(
      () => 'ok',
      ({ reason }) => String(reason),
    )
  return { outcome, limit: headers.get('ratelimit-limit'), remaining: headers.get('ratelimit-remaining') }
}

async function countOk(
  limits: RateLimits,
  client: ClientId,
  name: LimitName,
  times: number,
): Promise<number> {
  let accepted = 0
  for (let index = 0; index < times; index++)
    if ((await ask(limits, client, name)).outcome === 'ok') accepted++
  return accepted
}

describe('the limit of a key', () => {
  test.each(LIMITS)('is 20 times that of an address for %s, and its own count', async (name) => {
    const { clientOf } = await openRing(acme.key, own.key)
    const limits = createRateLimits(CONFIG, systemClock)
    const stranger = identifyClient(ADDRESS)
    const ofAddress = name === 'global' ? 3 : 2
    expect(await countOk(limits, stranger, name, 10)).toBe(ofAddress)
    const first = await ask(limits, clientOf(acme.text), name)
    expect(first).toEqual({
      outcome: 'ok',
      limit: String(20 * ofAddress),
      remaining: String(20 * ofAddress - 1),
    })
    expect(await countOk(limits, clientOf(acme.text, '2001:db8::1'), name, 100)).toBe(20 * ofAddress - 1)
    expect((await ask(limits, clientOf(acme.text), name)).outcome).toBe('RATE_LIMITED')
    expect((await ask(limits, clientOf(own.text), name)).outcome).toBe('ok')
  })

  test('is the one that the operator has set, and 0 is none', async () => {
    const { clientOf } = await openRing(acme.key, own.key)
    const limits = createRateLimits(CONFIG, systemClock)
    expect((await ask(limits, clientOf(acme.text), 'quote')).limit).toBe('40')
    expect(await countOk(limits, clientOf(own.text), 'quote', 100)).toBe(5)
    expect(await ask(limits, clientOf(own.text), 'quote')).toMatchObject({ limit: '5', remaining: '0' })
    expect(await countOk(limits, clientOf(own.text), 'order', 100)).toBe(100)
  })

  test('is none where addresses have none, unless the operator has set it', async () => {
    const { clientOf } = await openRing(acme.key, own.key)
    const limits = createRateLimits({ ...CONFIG, quote: 0 }, systemClock)
    expect(await countOk(limits, clientOf(acme.text), 'quote', 100)).toBe(100)
    expect(await countOk(limits, clientOf(own.text), 'quote', 100)).toBe(5)
  })

  test('does not depend on how many clients are counted together', async () => {
    const { clientOf } = await openRing(acme.key)
    const limits = createRateLimits(CONFIG, systemClock, { maxClients: 8 })
    for (let index = 0; index < 500; index++)
      await ask(limits, identifyClient(`198.51.${index >> 8}.${index & 255}`))
    expect(await countOk(limits, clientOf(acme.text), 'quote', 100)).toBe(40)
  })
})

test('requests and rejections of keys are counted by label and limit, and no others', async () => {
  const { clientOf } = await openRing(own.key)
  const metrics = createMetrics()
  const limits = createRateLimits(CONFIG, systemClock, { metrics })
  await countOk(limits, clientOf(own.text), 'quote', 7)
  await countOk(limits, clientOf(newKey('wrong').text), 'quote', 7)
  await countOk(limits, identifyClient('192.0.2.2'), 'quote', 7)
  const seriesOf = async (metric: typeof metrics.keyRequests) =>
    (await metric.get()).values.map(({ labels, value }) => [labels.key, labels.limit, value])
  expect(await seriesOf(metrics.keyRequests)).toEqual([['own', 'quote', 7]])
  expect(await seriesOf(metrics.keyRejections)).toEqual([['own', 'quote', 2]])
})

describe('a wrong key', () => {
  test('is refused for every limit, and counts at that of the address', async () => {
    const { clientOf } = await openRing(acme.key)
    const limits = createRateLimits(CONFIG, systemClock)
    const wrong = () => clientOf(newKey('wrong').text)
    for (const name of LIMITS) expect((await ask(limits, wrong(), name)).outcome).toBe('API_KEY_INVALID')
    expect((await ask(limits, identifyClient(ADDRESS))).outcome).toBe('ok')
    expect((await ask(limits, wrong())).outcome).toBe('RATE_LIMITED')
    expect((await ask(limits, clientOf(acme.text))).outcome).toBe('ok')
  })
})

test('a limit that needs a key refuses those without one, after it has counted them', async () => {
  const { clientOf } = await openRing(acme.key)
  const limits = createRateLimits(CONFIG, systemClock, { requireApiKey: new Set(['quote']) })
  const stranger = identifyClient(ADDRESS)
  expect(await ask(limits, stranger)).toEqual({ outcome: 'API_KEY_REQUIRED', limit: '2', remaining: '1' })
  expect((await ask(limits, stranger)).outcome).toBe('API_KEY_REQUIRED')
  expect((await ask(limits, stranger)).outcome).toBe('RATE_LIMITED')
  expect((await ask(limits, stranger, 'order')).outcome).toBe('ok')
  expect((await ask(limits, clientOf(acme.text))).outcome).toBe('ok')
})

test('a chain that is not served is told without a key too, at the count of all else and not at that of the method', async () => {
  const limits = createRateLimits(CONFIG, systemClock, { requireApiKey: new Set(LIMITS_OF_USERS) })
  const { checkChainAndLimits } = createChecks(true, ['quote'], [1], limits)
  const reasonAt = (chainId: number | undefined) =>
    checkChainAndLimits(chainId, { client: identifyClient(ADDRESS), setHeader() {} }).catch(
      ({ reason }) => reason,
    )
  for (const chainId of [2, undefined, 2]) expect(await reasonAt(chainId)).toBe('CHAIN_NOT_SUPPORTED')
  expect(await reasonAt(2)).toBe('RATE_LIMITED')
  expect(await reasonAt(1)).toBe('API_KEY_REQUIRED')
})

describe('the stream places of a key', () => {
  const SLOTS = { maxStreamClients: 1000, maxStreamClientsPerIp: 2 }
  const NOTHING = () => {}

  function fill(take: () => void): number {
    for (let taken = 0; taken < 1000; taken++)
      try {
        take()
      } catch (error) {
        expect(error).toMatchObject({ reason: 'STREAM_LIMIT_REACHED' })
        return taken
      }
    return 1000
  }

  test('are 5 times those of an address, or those that the operator has set, beside those of the address', async () => {
    const { clientOf } = await openRing(acme.key, own.key)
    const slots = createStreamSlots(SLOTS)
    expect(fill(() => slots.take(clientOf(acme.text), NOTHING))).toBe(10)
    expect(fill(() => slots.take(clientOf(own.text), NOTHING))).toBe(3)
    expect(fill(() => slots.take(identifyClient(ADDRESS), NOTHING))).toBe(2)
    expect(() => slots.take(clientOf(own.text), NOTHING)).toThrow(
      'This API key has all of its 3 streams open.',
    )
  })

  test('are free once, however often a stream gives its place back', async () => {
    const { clientOf } = await openRing(own.key)
    const slots = createStreamSlots(SLOTS)
    const take = () => slots.take(clientOf(own.text), NOTHING)
    const release = take()
    take()
    for (let times = 0; times < 2; times++) release()
    expect(fill(take)).toBe(2)
  })

  test('end with the key, those of others do not, and a released place hears nothing', async () => {
    const { clientOf, clock, stored } = await openRing(acme.key, own.key)
    const slots = createStreamSlots(SLOTS)
    const ended: string[] = []
    const take = (text: string, name: string) =>
      slots.take(clientOf(text), (error) => ended.push(`${name} ${(error as { reason: string }).reason}`))
    const client = clientOf(acme.text)
    take(acme.text, 'one')
    take(acme.text, 'two')()
    take(own.text, 'other')
    stored.keys = [own.key]
    await clock.advance(5000)
    expect(ended).toEqual(['one API_KEY_INVALID'])
    expect(() => slots.take(client, NOTHING)).toThrow(expect.objectContaining({ reason: 'API_KEY_INVALID' }))
  })
})

test('the replays of a key are those of a client, or as many as the operator has set', async () => {
  const { clientOf } = await openRing(acme.key, own.key)
  const replays = new ClientCounts({ perClient: 4, total: 32, ofKeys: { name: 'replays', factor: 1 } })
  const countOf = (client: ClientId) => {
    let count = 0
    for (; replays.fullAt(client) === undefined; count++) replays.add(client)
    return count
  }
  expect([countOf(clientOf(acme.text)), countOf(clientOf(own.text))]).toEqual([4, 1])
})
