import { parseInteger } from './integer.js'

/**
 * Reads an EIP-155 chain id: a decimal integer of 1 to 2^53-1 without sign, exponent or leading zeros. Every JSON reader
 * reads it as the same number (docs/decisions.md, D7).
 * @returns the chain id, or undefined when `text` is not one
 */
export function parseChainId(text: string): number | undefined {
  return parseInteger(text) || undefined
}
