import { describe, expect, test } from 'vitest'
import { parseAddress, parseBytes32 } from '../../src/values/hex.js'

const ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const ORDER_ID = `0x${'Ab'.repeat(32)}`

describe.each([
  { what: 'an address', parse: parseAddress, text: ADDRESS },
  { what: 'bytes32', parse: parseBytes32, text: ORDER_ID },
])('$what', ({ parse, text }) => {
  test.each([text, text.toLowerCase(), `0x${text.slice(2).toUpperCase()}`])(
    'is read from %s in lower case',
    (cased) => {
      expect(parse(cased)).toBe(text.toLowerCase())
    },
  )

  test('is read in a letter case that breaks the EIP-55 checksum', () => {
    const swapped = text.replace(/[a-f]/i, (letter) =>
      letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
    )
    expect(swapped).not.toBe(text)
    expect(parse(swapped)).toBe(text.toLowerCase())
  })

  test.each([
    ['one digit less', text.slice(0, -1)],
    ['one digit more', `${text}0`],
    ['one byte less', text.slice(0, -2)],
    ['one byte more', `${text}00`],
    ['no 0x', text.slice(2)],
    ['an upper-case 0X', text.replace('0x', '0X')],
    ['a letter that is no digit', `${text.slice(0, -1)}g`],
    ['a blank before it', ` ${text}`],
    ['a line feed after it', `${text}\n`],
    ['no text', ''],
    ['a number', 0],
    ['null', null],
    ['nothing', undefined],
    ['a list', [text]],
  ])('is not read from %s', (_what, bad) => {
    expect(parse(bad)).toBeUndefined()
  })
})
