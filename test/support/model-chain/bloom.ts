import { keccak256 } from 'viem'
import type { Hex } from '../../../packages/protocol/src/values/hex.js'

/** The root of a trie without receipts. */
export const EMPTY_TRIE_ROOT: Hex = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'

/** Of no log. */
export const ZERO_BLOOM: Hex = `0x${'00'.repeat(256)}`

/** The bits of each value: a hash takes time, and the same addresses come in each block. */
const bitsOf = new Map<Hex, bigint>()

function findBits(value: Hex): bigint {
  const known = bitsOf.get(value)
  if (known !== undefined) return known
  const hash = Buffer.from(keccak256(value, 'bytes'))
  const bits = [0, 2, 4].reduce((all, offset) => all | (1n << BigInt(hash.readUInt16BE(offset) % 2048)), 0n)
  bitsOf.set(value, bits)
  return bits
}

/** The bloom filter over the addresses and topics of some logs (Yellow Paper, section 4.3.1). */
export function bloomOf(logs: readonly { readonly address: Hex; readonly topics: readonly Hex[] }[]): Hex {
  const values = logs.flatMap(({ address, topics }) => [address, ...topics])
  return toBloom(values.reduce((bits, value) => bits | findBits(value), 0n))
}

/** 256 bytes. */
export function toBloom(bits: bigint): Hex {
  return `0x${bits.toString(16).padStart(512, '0')}`
}
