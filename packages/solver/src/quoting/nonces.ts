import { randomBytes } from 'node:crypto'
import { bytesToHex } from 'viem'
import { nonceWithMode } from '../../../protocol/src/quotes/nonce-mode.js'
import type { DepositMode } from '../../../protocol/src/quotes/quote.js'

const RANDOM_BYTES = 12
const COUNTER_BITS = 32n
const REST_BITS = 128
/** The nonces of one word of the contract. */
const WORD_BITS = 8n
const BIT_OF_WORD = (1n << WORD_BITS) - 1n

/**
 * Builds the nonces of a start. Each says the deposit mode that its request has told. The rest begins with 96 random bits, which do not
 * repeat over restarts and processes, and counts up in 32 bits. Quotes of a mode that are signed one after the other so share a word of
 * 256 nonces, which one call can cancel (docs/decisions.md, D32).
 */
export function createNonces(): (mode: DepositMode) => bigint {
  const first = BigInt(bytesToHex(randomBytes(RANDOM_BYTES))) << COUNTER_BITS
  const next = { CONTRACT: first, ADDRESS: first }
  // After 2^32 quotes, it goes on with the next random part.
  return (mode) => nonceWithMode(mode, BigInt.asUintN(REST_BITS, next[mode]++))
}

/** Nonces of one word of 256, as `cancelNonces` takes them. */
export interface NonceWord {
  readonly word: bigint
  /** Bit `n` is the nonce `256 * word + n`. */
  readonly mask: bigint
}

/** Sorts nonces into words, in the order in which each word comes first. */
export function toWords(nonces: readonly bigint[]): NonceWord[] {
  const masks = new Map<bigint, bigint>()
  for (const nonce of nonces) {
    const word = nonce >> WORD_BITS
    masks.set(word, (masks.get(word) ?? 0n) | (1n << (nonce & BIT_OF_WORD)))
  }
  return [...masks].map(([word, mask]) => ({ word, mask }))
}

/** The nonces of a word. */
export function fromWord({ word, mask }: NonceWord): bigint[] {
  const nonces: bigint[] = []
  for (let bit = 0n; bit <= BIT_OF_WORD; bit++) if ((mask >> bit) & 1n) nonces.push((word << WORD_BITS) | bit)
  return nonces
}
