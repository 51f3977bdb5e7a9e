import { encodeAbiParameters, type Hex, stringToHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { parseDecimalsAnswer, parseSymbolAnswer } from '../../../src/chain/tokens/token-reader.js'

const text = (symbol: string): Hex => encodeAbiParameters([{ type: 'string' }], [symbol])
const bytes32 = (symbol: string): Hex => stringToHex(symbol, { size: 32 })
const integer = (value: bigint): Hex => encodeAbiParameters([{ type: 'uint256' }], [value])
const word = (value: number) => value.toString(16).padStart(64, '0')
/** A string of a length that its bytes need not have. */
const stringOf = (length: string, bytes: string): Hex => `0x${word(32)}${length}${bytes}`

describe('a symbol', () => {
  test.each(['USDC', 'x', 'USD₮0', '稳定币', '🦄', 'עברית', 'a b', 'N'.repeat(32), '🦄'.repeat(32)])(
    'is read from a string: %s',
    (symbol) => {
      expect(parseSymbolAnswer(text(symbol))).toBe(symbol)
    },
  )

  test.each(['MKR', 'x', '稳定币', 'exactly thirty-two bytes of text'])(
    'is read from bytes32: %s',
    (symbol) => {
      expect(parseSymbolAnswer(bytes32(symbol))).toBe(symbol)
    },
  )

  test('is read from a string without padding, or with bytes after it', () => {
    expect(parseSymbolAnswer(stringOf(word(3), '4d4b52'))).toBe('MKR')
    expect(parseSymbolAnswer(`${text('MKR')}${'00'.repeat(1000)}`)).toBe('MKR')
  })

  test.each([
    ['a line feed', 'US\nDC'],
    ['a direction override', 'USD\u202eC'],
    ['a byte order mark', '\ufeffUSDC'],
    ['a blank at the end', 'USDC '],
    ['no character', ''],
  ])('is absent with %s', (_, symbol) => {
    expect(parseSymbolAnswer(text(symbol))).toBeUndefined()
    expect(parseSymbolAnswer(bytes32(symbol))).toBeUndefined()
  })

  test.each<[string, Hex]>([
    ['33 characters', text('N'.repeat(33))],
    ['129 bytes', text(`${'🦄'.repeat(32)}N`)],
    ['bytes that are no UTF-8', stringOf(word(2), 'c328'.padEnd(64, '0'))],
    ['a length beyond its bytes', stringOf(word(33), '4d'.repeat(32))],
    ['a length of 2^256-1', stringOf('ff'.repeat(32), '4d'.repeat(32))],
    ['another offset', `0x${word(64)}${word(3)}${'4d'.repeat(32)}`],
    ['an offset only', `0x${word(32)}`],
    ['31 bytes', `0x${'4d'.repeat(31)}`],
    ['no bytes', '0x'],
  ])('is absent for an answer with %s', (_, answer) => {
    expect(parseSymbolAnswer(answer)).toBeUndefined()
  })
})

describe('decimals', () => {
  test.each([0, 6, 18, 255])('are read: %i', (decimals) => {
    expect(parseDecimalsAnswer(integer(BigInt(decimals)))).toBe(decimals)
  })

  test('are read from an answer with more bytes', () => {
    expect(parseDecimalsAnswer(`${integer(6n)}00`)).toBe(6)
  })

  test.each<[string, Hex]>([
    ['256', integer(256n)],
    ['2^256-1', integer(2n ** 256n - 1n)],
    ['31 bytes', `0x${'00'.repeat(30)}06`],
    ['no bytes', '0x'],
  ])('are absent for %s', (_, answer) => {
    expect(parseDecimalsAnswer(answer)).toBeUndefined()
  })
})
