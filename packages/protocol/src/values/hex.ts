import { ADDRESS, BYTES32, LOWER_CASE_BYTES32 } from '../field-rules.js'

/** Bytes as lower-case or mixed-case hex text with `0x`. */
export type Hex = `0x${string}`

/** A 20-byte account address in lower-case hex, as everywhere inside the service. */
export type Address = Hex

/**
 * Reads a 20-byte address in any letter case (docs/decisions.md, D3).
 * @returns the address in lower case, or undefined when `text` is not one
 */
export function parseAddress(text: unknown): Address | undefined {
  return typeof text === 'string' && ADDRESS.pattern.test(text) ? lowerCase(text as Hex) : undefined
}

/**
 * Reads 32 bytes of hex in any letter case, such as an order id.
 * @returns the text in lower case, or undefined when `text` is not 32 bytes of hex
 */
export function parseBytes32(text: unknown): Hex | undefined {
  if (typeof text !== 'string') return undefined
  if (LOWER_CASE_BYTES32.pattern.test(text)) return text as Hex
  return BYTES32.pattern.test(text) ? lowerCase(text as Hex) : undefined
}

/** The same bytes in lower case. */
export function lowerCase(hex: Hex): Hex {
  return hex.toLowerCase() as Hex
}

/** An integer as a quantity of JSON-RPC: hex without leading zeros. */
export function toQuantity(number: number): Hex {
  return `0x${number.toString(16)}`
}
