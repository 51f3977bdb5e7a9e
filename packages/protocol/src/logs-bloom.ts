import { keccak256 } from 'viem'
import type { Address, Hex } from '../../../src/domain/values/hex.js'

/** Returns the topics that logs of one contract may have, by the bloom filter of a block or of a receipt. */
export type TopicsInBloom = (bloom: Hex) => ReadonlySet<Hex>

const NONE: ReadonlySet<Hex> = new Set()

/**
 * Builds the test of one contract. A topic that is not in the result is in no log of the contract. A topic in the result
 * may be missing nevertheless: a bloom filter has false positives, and many of them in a full block.
 * @param topics first topics of logs, 32 bytes each
 */
export function createTopicsInBloom(address: Address, topics: readonly Hex[]): TopicsInBloom {
  const bitsOfAddress = bitsOf(address)
  const bitsOfTopics = topics.map((topic) => [topic, bitsOf(topic)] as const)
  return (bloom) => {
    if (!hasBits(bloom, bitsOfAddress)) return NONE
    const found = bitsOfTopics.filter(([, bits]) => hasBits(bloom, bits))
    return new Set(found.map(([topic]) => topic))
  }
}

/** Whether a bloom filter has the bits of some addresses and topics. */
export function hasAll(bloom: Hex, values: readonly Hex[]): boolean {
  return values.every((value) => hasBits(bloom, bitsOf(value)))
}

/** Whether some blooms together have every bit of another bloom. */
export function coversBloom(blooms: readonly Hex[], whole: Hex): boolean {
  const union = blooms.reduce((bits, bloom) => bits | BigInt(bloom), 0n)
  return (BigInt(whole) & ~union) === 0n
}

/**
 * The bits that a value sets in a bloom filter of 2048 bits, counted from the lowest. They are the low eleven bits of each
 * of the first three pairs of bytes of its Keccak-256 (Yellow Paper, section 4.3.1, "M3:2048").
 */
function bitsOf(value: Hex): number[] {
  const hash = keccak256(value)
  return [2, 6, 10].map((start) => Number.parseInt(hash.slice(start, start + 4), 16) & 0x7ff)
}

function hasBits(bloom: Hex, bits: readonly number[]): boolean {
  return bits.every((bit) => {
    const digit = Number.parseInt(bloom.charAt(bloom.length - 1 - (bit >> 2)), 16)
    return (digit & (1 << (bit & 3))) !== 0
  })
}
