import { randomBytes } from 'node:crypto'
import { bytesToHex } from 'viem'
import { nonceWithMode } from '../../../protocol/src/quotes/nonce-mode.js'
import type { DepositMode } from '../../../protocol/src/quotes/quote.js'

const RANDOM_BYTES = 12
const COUNTER_BITS = 32n
/** The nonces of one word of the contract. */
const WORD_BITS = 8n
const BIT_OF_WORD = (1n << WORD_BITS) - 1n

/**
 * Builds the nonces of a start. Each says the deposit mode that its request has told, and has 96 random bits, which do not repeat over
 * restarts and processes, and a counter of 32 bits. Quotes of a mode that are signed one after the other so share a word of 256 nonces,
 * which one call can cancel (docs/decisions.md, D32).
 */
export function createNonces(): (mode: DepositMode) => bigint {
  const next = { CONTRACT: createNumbers(), ADDRESS: createNumbers() }
  return (mode) => nonceWithMode(mode, next[mode]())
}

function createNumbers(): () => bigint {
  let random = 0n
  let counter = 0n
  return () => {
    if (counter === 0n) random = BigInt(bytesToHex(randomBytes(RANDOM_BYTES)))
    const number = (random << COUNTER_BITS) | counter
    counter = (counter + 1n) % (1n << COUNTER_BITS)
    return number
  }
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
