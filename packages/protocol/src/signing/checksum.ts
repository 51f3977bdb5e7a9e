import { LRUCache } from 'lru-cache'
import type { Address } from '../values/hex.js'
import { keccak256 } from './typed-data.js'

const MAX_KNOWN = 4096
const LETTER_A = 0x61
const LOWER_TO_UPPER = 0x20

const known = new LRUCache<Address, Address>({ max: MAX_KNOWN })

/** An address in EIP-55 form. For an address that occurs once, such as a deposit address. */
export function toChecksumAddress(address: Address): Address {
  const text = Buffer.from(address.toLowerCase(), 'latin1')
  const hash = keccak256(text.subarray(2))
  for (let index = 2; index < text.length; index++) {
    const character = text[index] as number
    const pair = hash[(index - 2) >> 1] as number
    const nibble = index % 2 === 0 ? pair >> 4 : pair & 0xf
    if (character >= LETTER_A && nibble >= 8) text[index] = character - LOWER_TO_UPPER
  }
  return text.toString('latin1') as Address
}

/** An address in EIP-55 form. For an address that occurs often, such as a token's or a solver's. */
export function toCachedChecksumAddress(address: Address): Address {
  const cached = known.get(address)
  if (cached !== undefined) return cached
  const checksummed = toChecksumAddress(address)
  known.set(address, checksummed)
  return checksummed
}
