import type { Hex } from '../../../src/domain/values/hex.js'

// Values in a node's answer, in any spelling (docs/decisions.md, D22). Each function returns undefined for what is no such value.

const NUMBER = /^(0x[0-9a-f]+|[0-9]+)$/i
const BYTES = /^0x([0-9a-f]{2})*$/i
const WORD = /^0x[0-9a-f]{64}$/i
const BLOOM = /^0x[0-9a-f]{512}$/i
const NO_BYTES: readonly unknown[] = [undefined, null, '', '0x0']

/** A safe integer from 0: hex with any number of zeros before it, a decimal text, or a number of JSON. */
export function numberIn(value: unknown): number | undefined {
  const number = typeof value === 'string' && NUMBER.test(value) ? Number(value) : value
  return Number.isSafeInteger(number) && (number as number) >= 0 ? (number as number) : undefined
}

/** Bytes in lower case. No bytes may be an empty text, `0x0` or absent. */
export function bytesIn(value: unknown): Hex | undefined {
  return NO_BYTES.includes(value) ? '0x' : textIn(value, BYTES)
}

/** 32 bytes in lower case. */
export function wordIn(value: unknown): Hex | undefined {
  return textIn(value, WORD)
}

/** A bloom filter in lower case. One without a bit says nothing: many nodes fill it in for all blocks, or until they know it. */
export function bloomIn(value: unknown): Hex | undefined {
  const bloom = textIn(value, BLOOM)
  return bloom !== undefined && /[1-9a-f]/.test(bloom.slice(2)) ? bloom : undefined
}

function textIn(value: unknown, pattern: RegExp): Hex | undefined {
  return typeof value === 'string' && pattern.test(value) ? (value.toLowerCase() as Hex) : undefined
}
