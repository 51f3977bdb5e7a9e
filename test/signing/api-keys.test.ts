import * as crypto from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { formatApiKey, parseApiKey } from '../../src/domain/api-key.js'
import { createApiKey, digestOf, isSecretOf } from '../../src/signing/api-keys.js'

vi.mock('node:crypto', async (importOriginal) => {
  const actual = await importOriginal<typeof crypto>()
  return { ...actual, timingSafeEqual: vi.fn(actual.timingSafeEqual) }
})

test('a new key has the form of a key, and 32 random bytes', () => {
  const keys = Array.from({ length: 100 }, () => createApiKey())
  for (const key of keys) expect(parseApiKey(formatApiKey(key))).toEqual(key)
  expect(new Set(keys.map(({ id }) => id)).size).toBe(100)
  expect(new Set(keys.map(({ secret }) => secret)).size).toBe(100)
  expect(Buffer.from(keys[0]?.secret ?? '', 'base64url')).toHaveLength(32)
})

test('a new secret of a key keeps its id', () => {
  const { id, secret } = createApiKey()
  const rotated = createApiKey(id)
  expect(rotated.id).toBe(id)
  expect(rotated.secret).not.toBe(secret)
})

test('the digest is SHA-256 of the secret', () => {
  const { secret } = createApiKey()
  expect(digestOf(secret)).toBe(crypto.createHash('sha256').update(secret).digest('hex'))
})

test('a secret is compared by its digest in constant time, whatever it is', () => {
  const { secret } = createApiKey()
  const digest = Buffer.from(digestOf(secret), 'hex')
  expect(isSecretOf(digest, secret)).toBe(true)
  for (const wrong of ['', secret.slice(1), `${secret}A`, createApiKey().secret])
    expect(isSecretOf(digest, wrong)).toBe(false)
  const compared = vi.mocked(crypto.timingSafeEqual).mock.calls
  expect(compared.map((values) => values.map(({ byteLength }) => byteLength))).toEqual(
    Array(5).fill([32, 32]),
  )
})
