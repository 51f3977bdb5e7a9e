import {
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from '@bufbuild/protobuf/wkt'
import { describe, expect, test } from 'vitest'
import { GetQuoteRequestSchema } from '../../../gen/aggregator/v1/quote_pb.js'
import { compileJsonReader, fieldValue } from '../../../src/http/rest/proto-json.js'
import { messageWith } from './proto-descriptors.js'

const GIVEN_TWICE = { field: 'inputToken', message: 'must be given once' }

const reader = compileJsonReader(GetQuoteRequestSchema)

/** Reads an object whose fields have their JSON names. */
function read(json: Readonly<Record<string, unknown>>) {
  return reader.read((field) => json[field.jsonName])
}

/** The value of a single field, or its violation. */
function readField(field: string, value: unknown) {
  const { message, violations } = read({ [field]: value })
  return violations.length > 0 ? { violations } : (message as unknown as Record<string, unknown>)[field]
}

test('the reader reads a whole message', () => {
  const { message, violations } = read({
    chainId: 1,
    inputToken: '0xA',
    outputToken: '0xB',
    orderType: 'EXACT_OUTPUT',
    amount: '1000',
    userAddress: '0xC',
    originChainId: 1,
    destinationChainId: '8453',
    depositMode: 'ADDRESS',
    depositWindow: 300,
  })
  expect(violations).toEqual([])
  expect(message).toMatchObject({
    $typeName: 'aggregator.v1.GetQuoteRequest',
    chainId: 1n,
    inputToken: '0xA',
    outputToken: '0xB',
    orderType: 2,
    amount: '1000',
    userAddress: '0xC',
    originChainId: 1n,
    destinationChainId: 8453n,
    depositMode: 2,
    depositWindow: 300,
  })
})

test.each([
  [{ inputToken: '0xA' }, '0xA'],
  [{ input_token: '0xA' }, '0xA'],
  [{ inputToken: '0xA', input_token: '0xA' }, undefined],
])('%j has the field once, by its JSON name or by its name in the proto: %s', (json, expected) => {
  const readToken = () => fieldValue(json, GetQuoteRequestSchema.field.inputToken)
  if (expected !== undefined) expect(readToken()).toBe(expected)
  else expect(readToken).toThrow(expect.objectContaining({ violations: [GIVEN_TWICE] }))
})

test.each([null, undefined])('%s is unset', (value) => {
  const { message, violations } = read({
    amount: value,
    chainId: value,
    orderType: value,
    depositWindow: value,
  })
  expect(violations).toEqual([])
  expect(message).toMatchObject({ amount: '', chainId: 0n, orderType: 0 })
  expect(message).not.toHaveProperty('depositWindow')
})

test('an optional field of 0 is not unset', () => {
  expect(read({ depositWindow: 0 }).message).toMatchObject({ depositWindow: 0 })
})

test('every invalid field has a violation, and is not set', () => {
  const { message, violations } = read({ amount: 1000, chainId: 'x', orderType: 1, userAddress: '0xC' })
  expect(violations.map(({ field }) => field)).toEqual(['chainId', 'orderType', 'amount'])
  expect(message).toMatchObject({ amount: '', chainId: 0n, orderType: 0, userAddress: '0xC' })
})

describe('a 64-bit integer', () => {
  const refused = { violations: [{ field: 'chainId', message: 'must be an integer of 0 to 2^53-1' }] }

  test.each<[unknown, bigint]>([
    [0, 0n],
    ['8453', 8453n],
    ['9007199254740991', 9_007_199_254_740_991n],
  ])('may be %j', (value, expected) => {
    expect(readField('chainId', value)).toBe(expected)
  })

  test.each([2 ** 53, '9007199254740992', -1, 1.5, '01', '1e3', '', true, [1]])('is not %j', (value) => {
    expect(readField('chainId', value)).toEqual(refused)
  })
})

describe('a 32-bit integer', () => {
  const refused = {
    violations: [{ field: 'depositWindow', message: 'must be an integer of 0 to 4294967295' }],
  }

  test.each([
    [300, 300],
    ['300', 300],
    [4_294_967_295, 4_294_967_295],
    ['4294967295', 4_294_967_295],
  ])('may be %j', (value, expected) => {
    expect(readField('depositWindow', value)).toBe(expected)
  })

  test.each([4_294_967_296, '4294967296', -1, 0.5, '300s', '0300', '', false, [], {}])(
    'is not %j',
    (value) => {
      expect(readField('depositWindow', value)).toEqual(refused)
    },
  )
})

describe('an enum', () => {
  const refused = { violations: [{ field: 'orderType', message: 'must be EXACT_INPUT or EXACT_OUTPUT' }] }

  test.each([
    ['EXACT_INPUT', 1],
    ['EXACT_OUTPUT', 2],
  ])('may be %s', (value, number) => {
    expect(readField('orderType', value)).toBe(number)
  })

  test.each([1, 'ORDER_TYPE_EXACT_INPUT', 'exact_input', '', true, ['EXACT_INPUT']])('is not %j', (value) => {
    expect(readField('orderType', value)).toEqual(refused)
  })

  test('of its zero value is read as unset', () => {
    expect(readField('orderType', 'UNSPECIFIED')).toBe(0)
  })
})

describe('a string', () => {
  test.each(['', '1000', '  ', 'null', '🙂'])('may be %j, which is not changed', (value) => {
    expect(readField('amount', value)).toBe(value)
  })

  test.each([0, 1000, true, false, [], ['1000'], {}])('is not %j', (value) => {
    expect(readField('amount', value)).toEqual({
      violations: [{ field: 'amount', message: 'must be a string' }],
    })
  })
})

describe('a boolean', () => {
  const { read: readAny } = compileJsonReader(messageWith({ label: Label.OPTIONAL, type: Type.BOOL }))

  test.each([
    [true, true],
    ['true', true],
    [false, false],
    ['false', false],
  ])('may be %j', (value, expected) => {
    const { message, violations } = readAny(() => value)
    expect([(message as { sampleField?: boolean }).sampleField, violations]).toEqual([expected, []])
  })

  test.each(['', 'True', '1', 0, 1, ['true', 'false'], {}])('is not %j', (value) => {
    expect(readAny(() => value).violations).toEqual([
      { field: 'sampleField', message: 'must be true or false' },
    ])
  })
})
