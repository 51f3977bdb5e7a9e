import { describe, expect, test } from 'vitest'
import { createApiKey, digestOf } from '../../../src/clients/api-key-secret.js'
import { identifyClient } from '../../../src/clients/client-id.js'
import { ADDRESS, newKey, openRing } from './key-samples.js'

const acme = newKey('acme', { quote: 600 })
const other = newKey('other')
/** The id of a key with the secret of another one. */
const forged = `${acme.text.slice(0, 14)}${other.text.slice(14)}`

describe('a request with a valid key', () => {
  test('is the same client from every address, with its own network and region', async () => {
    const { clientOf } = await openRing(acme.key, other.key)
    const client = clientOf(acme.text)
    expect(client).toMatchObject({ address: ADDRESS, networks: [], isPrivate: true })
    expect(client.refusal).toBeUndefined()
    expect(client.apiKey).toMatchObject({ label: 'acme', limits: { quote: 600 } })
    for (const address of ['2001:db8::1', '10.0.0.1']) {
      const elsewhere = clientOf(acme.text, address)
      expect(elsewhere).toEqual({ ...client, address })
    }
    const { key, network, region } = clientOf(other.text)
    expect(new Set([client.key, key, identifyClient(ADDRESS).key]).size).toBe(3)
    expect([client.network === network, client.region === region]).toEqual([false, false])
  })
})

describe('a request is refused, and counts for its address,', () => {
  test.each([
    ['with an unknown key', newKey('unknown').text, 'unknown, expired or revoked'],
    ['with the id of a key and another secret', forged, 'unknown, expired or revoked'],
    ['with text of another form', 'qa_acme', 'the form qa_<id>_<secret>'],
    ['with two different keys', `${acme.text}, ${other.text}`, 'two different'],
  ])('%s', async (_what, text, refusal) => {
    const { clientOf } = await openRing(acme.key, other.key)
    const client = clientOf(text)
    expect(client.refusal).toContain(refusal)
    expect(client).toEqual({ ...identifyClient(ADDRESS), refusal: client.refusal })
  })

  test('with a key that is expired or revoked', async () => {
    const { clientOf, clock, stored } = await openRing(acme.key, { ...other.key, revokedAt: 1 })
    expect(clientOf(other.text).refusal).toBeDefined()
    stored.keys = [{ ...acme.key, expiresAt: clock.now() + 5000 }]
    await clock.advance(4000)
    expect(clientOf(acme.text).refusal).toBeUndefined()
    await clock.advance(2000)
    expect(clientOf(acme.text).refusal).toBeDefined()
  })
})

test('a request without a key is the client of its address', async () => {
  const { ring } = await openRing(acme.key)
  const client = identifyClient(ADDRESS)
  expect(ring.identify(client, undefined, 'Basic cWE6cXVvdGVz')).toBe(client)
})

describe('a change of the keys', () => {
  test('takes effect within 5 seconds: a new key, and another limit', async () => {
    const { clientOf, clock, stored } = await openRing(acme.key)
    const { ended } = clientOf(acme.text).apiKey ?? {}
    stored.keys = [{ ...acme.key, limits: { quote: 7 } }, other.key]
    await clock.advance(5000)
    expect(clientOf(other.text).apiKey?.label).toBe('other')
    expect(clientOf(acme.text).apiKey).toMatchObject({ limits: { quote: 7 }, ended })
    expect(ended?.aborted).toBe(false)
  })

  test.each([
    ['revoked', [{ ...acme.key, revokedAt: 1 }]],
    ['removed', []],
    ['rotated', [{ ...acme.key, digest: digestOf(createApiKey().secret) }]],
  ])('ends what a key holds that is %s', async (_what, keys) => {
    const { clientOf, clock, stored } = await openRing(acme.key, other.key)
    const ended = clientOf(acme.text).apiKey?.ended
    const others = clientOf(other.text).apiKey?.ended
    stored.keys = [...keys, other.key]
    await clock.advance(5000)
    expect(ended?.reason).toMatchObject({ reason: 'API_KEY_INVALID', httpStatus: 401 })
    expect(others?.aborted).toBe(false)
    expect(clientOf(acme.text).refusal).toBeDefined()
  })

  test('is seen after the database was away. Meanwhile the known keys hold, and expire', async () => {
    const { clientOf, clock, stored } = await openRing(acme.key, other.key)
    stored.keys = [{ ...acme.key, expiresAt: clock.now() + 60_000 }, other.key]
    await clock.advance(5000)
    stored.error = new Error('the database is away')
    await clock.advance(30_000)
    expect(clientOf(acme.text).apiKey?.label).toBe('acme')
    await clock.advance(30_000)
    expect(clientOf(acme.text).refusal).toBeDefined()
    expect(clientOf(other.text).apiKey?.label).toBe('other')
    stored.error = undefined
    stored.keys = []
    await clock.advance(5000)
    expect(clientOf(other.text).refusal).toBeDefined()
  })
})

test('wrong keys read nothing from the database', async () => {
  const { clientOf, stored } = await openRing(acme.key)
  const reads = stored.reads
  for (let index = 0; index < 1000; index++) clientOf(newKey('wrong').text)
  clientOf(forged)
  expect([stored.reads, stored.uses]).toEqual([reads, []])
})

test('the day of the last use is written once a day, and only of keys that were used', async () => {
  const { clientOf, clock, stored } = await openRing(acme.key, other.key)
  const day = new Date(clock.now()).toISOString().slice(0, 10)
  clientOf(forged)
  await clock.advance(5000)
  expect(stored.uses).toEqual([])
  for (let index = 0; index < 5; index++) {
    clientOf(acme.text)
    await clock.advance(5000)
  }
  expect(stored.uses).toEqual([`${acme.key.id} ${day}`])
  await clock.advance(24 * 3_600_000)
  expect(stored.uses).toHaveLength(1)
  clientOf(acme.text)
  await clock.advance(5000)
  expect(stored.uses).toHaveLength(2)
})

test('a closed ring leaves no timer', async () => {
  const { ring, clock } = await openRing(acme.key)
  expect(clock.waiting).toBe(1)
  await ring.close()
  expect(clock.waiting).toBe(0)
})
