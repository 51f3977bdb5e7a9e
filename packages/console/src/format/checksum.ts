import { keccak_256 } from '@noble/hashes/sha3'

/**
 * Whether upper and lower case contradict an address (EIP-55), as after a typing error. An address in one case has no checksum.
 * @param address 0x and 40 hexadecimal digits
 */
export function hasWrongChecksum(address: string): boolean {
  const digits = address.slice(2)
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return false
  const hash = keccak_256(digits.toLowerCase())
  return [...digits].some((digit, index) => {
    const byte = hash[index >> 1] ?? 0
    const isUpper = (index % 2 === 0 ? byte >> 4 : byte & 15) >= 8
    return digit !== (isUpper ? digit.toUpperCase() : digit.toLowerCase())
  })
}
