import { getAddress } from 'viem'
import { expect, it } from 'vitest'
import { toCachedChecksumAddress, toChecksumAddress } from '../../src/signing/typed-data.js'

const LOWER = '0xa8438bd331854372a8322bdf402977251d1173bc'
const CHECKSUMMED = getAddress(LOWER)
const UPPER = `0x${LOWER.slice(2).toUpperCase()}` as const

it.each([LOWER, UPPER, CHECKSUMMED] as const)('%s has the EIP-55 form of viem', (address) => {
  expect(toChecksumAddress(address)).toBe(CHECKSUMMED)
  expect(toCachedChecksumAddress(address)).toBe(CHECKSUMMED)
})
