import { describe, expect, test } from 'vitest'
import { DEPOSIT_WINDOW } from '../../packages/protocol/src/field-rules.js'
import { DISPLAY_NAME } from '../../packages/protocol/src/values/display-name.js'
import { ENDPOINT_URL } from '../../packages/protocol/src/values/endpoint-url.js'
import { Fields } from '../../src/rpc/fields.js'

const ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const ORDER_ID = `0x${'Ab'.repeat(32)}`
const SIGNATURE = `0x${'aB'.repeat(65)}`
const MAX = 2n ** 256n - 1n
const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER)

/** Reads one field with the name `it`: its value, and its violations. */
function read<T>(reader: (fields: Fields, field: string) => T): { value: T; messages: string[] } {
  const fields = new Fields([])
  const value = reader(fields, 'it')
  expect(fields.violations.filter(({ field }) => field !== 'it')).toEqual([])
  return { value, messages: fields.violations.map(({ message }) => message) }
}

function expectViolation(reader: (fields: Fields, field: string) => unknown, message: string): void {
  expect(read(reader).messages).toEqual([message])
}

describe('a text', () => {
  const AMOUNT = 'must be a decimal integer of 1 to 2^256-1 without sign, point, exponent or leading zeros'

  test.each([
    ['address', ADDRESS, ADDRESS.toLowerCase()],
    ['bytes32', ORDER_ID, ORDER_ID.toLowerCase()],
    ['signature', SIGNATURE, SIGNATURE],
    ['amount', String(MAX), MAX],
  ] as const)('of %s may be %s', (kind, text, value) => {
    expect(read((fields, it) => fields[kind](it, text))).toEqual({ value, messages: [] })
  })

  test.each([
    ['address', ORDER_ID, 'must be a 20-byte address in hex with 0x'],
    ['bytes32', ADDRESS, 'must be 32 bytes in hex with 0x'],
    ['signature', `${SIGNATURE}\n`, 'must be 65 bytes in hex with 0x'],
    ['signature', `${SIGNATURE}00`, 'must be 65 bytes in hex with 0x'],
    ['amount', '0', AMOUNT],
    ['amount', String(MAX + 1n), AMOUNT],
  ] as const)('of %s is not %j', (kind, text, message) => {
    expectViolation((fields, it) => fields[kind](it, text), message)
  })
})

describe('an integer', () => {
  test.each([1, 300, 86_400, 300n])('of 1 to 86400 may be %s', (number) => {
    const { value, messages } = read((fields, it) => fields.integer(it, number, DEPOSIT_WINDOW))
    expect({ value, messages }).toEqual({ value: Number(number), messages: [] })
  })

  test.each([0, -1, 86_401, 2n ** 64n])('of 1 to 86400 is not %s', (number) => {
    expectViolation(
      (fields, it) => fields.integer(it, number, DEPOSIT_WINDOW),
      'must be an integer of 1 to 86400',
    )
  })
})

describe('a timestamp', () => {
  test.each([1n, 1_800_000_000_123n, MAX_SAFE])('may be %s', (number) => {
    const { value, messages } = read((fields, it) => fields.timestampMs(it, number))
    expect({ value, messages }).toEqual({ value: Number(number), messages: [] })
  })

  test.each([0n, -1n, MAX_SAFE + 1n, 2n ** 64n - 1n])('is not %s', (number) => {
    expectViolation((fields, it) => fields.timestampMs(it, number), 'must be Unix time in milliseconds')
  })
})

describe('one of some integers', () => {
  test.each([1n, 10n, MAX_SAFE])('may be %s', (number) => {
    const { value, messages } = read((fields, it) => fields.oneOf(it, number, [1, 10, Number(MAX_SAFE)]))
    expect({ value, messages }).toEqual({ value: Number(number), messages: [] })
  })

  test.each([0n, 2n, -1n, MAX_SAFE + 1n, 2n ** 64n - 1n])('is not %s', (number) => {
    expectViolation((fields, it) => fields.oneOf(it, number, [1, 10]), 'must be 1 or 10')
  })
})

describe('a choice', () => {
  const choices = { 1: 'EXACT_INPUT', 2: 'EXACT_OUTPUT' } as const

  test('is one of its names', () => {
    expect(read((fields, it) => fields.choice(it, 2, choices))).toEqual({
      value: 'EXACT_OUTPUT',
      messages: [],
    })
  })

  test.each([0, 3, -1])('is not the number %i', (number) => {
    const { value, messages } = read((fields, it) => fields.choice(it, number, choices))
    expect({ value, messages }).toEqual({
      value: undefined,
      messages: ['must be EXACT_INPUT or EXACT_OUTPUT'],
    })
  })
})

test('a display name has 1 to 64 visible characters', () => {
  for (const text of ['a', '🙂'.repeat(64)])
    expect(read((fields, it) => fields.text(it, text, DISPLAY_NAME))).toEqual({ value: text, messages: [] })
  for (const text of ['', '🙂'.repeat(65), 'a\n', 'Ada\u202egro.live'])
    expectViolation(
      (fields, it) => fields.text(it, text, DISPLAY_NAME),
      'must be 1 to 64 visible characters: no control, format or other invisible characters, no blank at either end, at most 4 combining marks in a row',
    )
})

describe('an endpoint URL', () => {
  const longest = `https://solver.example/${'a'.repeat(2048 - 'https://solver.example/'.length)}`

  test.each([
    'https://solver.example',
    'https://solver.example/',
    'https://solver.example:8443/api/v1',
    'https://[2606:4700:4700::1111]:8443/api',
    'https://xn--grn-hoa.example/%20',
    longest,
  ])('may be %s, and has the form of the rule', (text) => {
    expect(read((fields, it) => fields.endpointUrl(it, text))).toEqual({ value: text, messages: [] })
    expect(text).toMatch(ENDPOINT_URL.pattern)
  })

  test.each([
    '',
    'solver.example',
    'https://:8443',
    'https://solver.example:99999',
    'ftp://solver.example',
    'https://user@solver.example',
    'https://:password@solver.example',
    'https://solver.example/?',
    'https://solver.example/#',
    ' https://solver.example',
    'https://solver.example/a b',
    'https://solver.example\n',
    'https://solver.example/\u200b',
    `${longest}a`,
    // Each becomes six characters.
    `https://solver.example/${'ü'.repeat(400)}`,
  ])('is not %j', (text) => {
    const message =
      'must be an http or https URL of at most 2048 characters without credentials, query or fragment'
    expectViolation((fields, it) => fields.endpointUrl(it, text), message)
  })

  test.each([
    ['HTTPS://Solver.Example:8443/api/v1/', 'https://solver.example:8443/api/v1/'],
    ['https://1.1.1.1\\@127.0.0.1', 'https://1.1.1.1/@127.0.0.1'],
    ['https://@1.1.1.1', 'https://1.1.1.1'],
    ['https://0x01010101', 'https://1.1.1.1'],
    ['https://solver.example:443', 'https://solver.example'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ['https://solver.example/a/../b', 'https://solver.example/b'],
    ['https://solver.example/ü', 'https://solver.example/%C3%BC'],
  ])('is not %s, and must be %s', (text, normal) => {
    expectViolation(
      (fields, it) => fields.endpointUrl(it, text),
      `must be written in its normalised form: ${normal}`,
    )
  })

  test.each(['https://solver.example:0', 'https://solver.example:00/'])('is not at port 0: %s', (text) => {
    expectViolation((fields, it) => fields.endpointUrl(it, text), 'must have a port of 1 to 65535')
  })
})

describe('violations', () => {
  test('are all recorded, in the order in which the fields were read', () => {
    const fields = new Fields([{ field: 'timestamp', message: 'must be an integer' }])
    fields.address('address', '')
    fields.amount('amount', '')
    fields.addViolation('originChainId', 'must equal the chain of the request, 1')
    expect(fields.violations.map(({ field }) => field)).toEqual([
      'timestamp',
      'address',
      'amount',
      'originChainId',
    ])
  })

  test('of a malformed field are not recorded twice', () => {
    const malformed = { field: 'amount', message: 'must be a string' }
    const fields = new Fields([malformed])
    fields.amount('amount', '')
    fields.addViolation('amount', 'must be something else')
    expect(fields.violations).toEqual([malformed])
  })
})
