import { expect, it } from 'vitest'
import { hasWrongChecksum } from '../src/format/checksum.js'

/** The examples of EIP-55. */
const EXAMPLES = [
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
]

it.each(EXAMPLES)('%s has a right checksum, and a wrong one after any change of case', (address) => {
  expect(hasWrongChecksum(address)).toBe(false)
  for (const { index, 0: letter } of address.matchAll(/[a-f]/gi)) {
    if (index < 2) continue
    const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()
    expect(hasWrongChecksum(address.slice(0, index) + other + address.slice(index + 1))).toBe(true)
  }
})

it('an address in one case has no checksum', () => {
  const [address = ''] = EXAMPLES
  expect(hasWrongChecksum(address.toLowerCase())).toBe(false)
  expect(hasWrongChecksum(`0x${address.slice(2).toUpperCase()}`)).toBe(false)
})
