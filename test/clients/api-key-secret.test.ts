import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { formatApiKey, parseApiKey } from '../../src/clients/api-key.js'
import { createApiKey, digestOf, isSecretOf } from '../../src/clients/api-key-secret.js'

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
  expect(digestOf(secret)).toBe(createHash('sha256').update(secret).digest('hex'))
})

test('a secret is compared by its digest in constant time, whatever it is', () => {
  const { secret } = createApiKey()
  const digest = Buffer.from(digestOf(secret), 'hex')
  expect(isSecretOf(digest, secret)).toBe(true)
  for (const wrong of ['', secret.slice(1), `${secret}A`, createApiKey().secret])
    expect(isSecretOf(digest, wrong)).toBe(false)
  // Only a comparison in constant time asks for the same length.
  expect(() => isSecretOf(digest.subarray(1), secret)).toThrow(
    expect.objectContaining({ code: 'ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH' }),
  )
})
