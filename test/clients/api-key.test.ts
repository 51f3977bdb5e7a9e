import { describe, expect, test } from 'vitest'
import { type ApiKey, formatApiKey, isValidAt, parseApiKey, sentKeys } from '../../src/clients/api-key.js'

const ID = '0123456789'
const SECRET = 'A'.repeat(42).concat('_')
const KEY = `qa_${ID}_${SECRET}`

describe('parseApiKey', () => {
  test('reads what formatApiKey writes', () => {
    expect(parseApiKey(KEY)).toEqual({ id: ID, secret: SECRET })
    expect(formatApiKey({ id: ID, secret: SECRET })).toBe(KEY)
  })

  test.each([
    ['without the beginning', KEY.slice(3)],
    ['with another beginning', `qb${KEY.slice(2)}`],
    ['in upper case', KEY.toUpperCase()],
    ['cut off', KEY.slice(0, -1)],
    ['too long', `${KEY}A`],
    ['with a blank', `${KEY.slice(0, -1)} `],
    ['with a line feed', `${KEY}\n`],
    ['without a secret', `qa_${ID}_`],
    ['with a letter of base64 that is not of base64url', KEY.replace('A', '+')],
    ['with a short id', `qa_${ID.slice(1)}_${SECRET}`],
  ])('refuses a key %s', (_what, text) => {
    expect(parseApiKey(text)).toBeUndefined()
  })
})

describe('sentKeys', () => {
  test.each<[string, string | undefined, string | undefined, string[]]>([
    ['nothing', undefined, undefined, []],
    ['x-api-key', KEY, undefined, [KEY]],
    ['Authorization', undefined, `Bearer ${KEY}`, [KEY]],
    ['Authorization in another case', undefined, `bearer   ${KEY}`, [KEY]],
    ['the same key in both', KEY, `Bearer ${KEY}`, [KEY]],
    ['the same key twice', `${KEY}, ${KEY}`, undefined, [KEY]],
    ['two keys', 'one, two', undefined, ['one', 'two']],
    ['two keys in two headers', 'one', 'Bearer qa_two', ['one', 'qa_two']],
    ['empty headers', ' , ', '', []],
    ['more text than two keys have', 'x,'.repeat(8000), undefined, ['x,'.repeat(8000)]],
    ['a password of a proxy', undefined, 'Basic cWE6cXVvdGVz', []],
    ['a token of a proxy', undefined, 'Bearer eyJhbGciOiJIUzI1NiJ9', []],
    ['a key without Bearer', undefined, KEY, []],
  ])('finds the keys in %s', (_what, header, authorization, keys) => {
    expect(sentKeys(header, authorization)).toEqual(keys)
  })
})

test('a key is valid until it expires or is revoked', () => {
  const key = { revokedAt: undefined, expiresAt: undefined } as ApiKey
  expect(isValidAt(key, 1000)).toBe(true)
  expect(isValidAt({ ...key, expiresAt: 1000 }, 999)).toBe(true)
  expect(isValidAt({ ...key, expiresAt: 1000 }, 1000)).toBe(false)
  expect(isValidAt({ ...key, revokedAt: 2000 }, 1000)).toBe(false)
})
