/** Bytes as lower-case or mixed-case hex text with `0x`. */
export type Hex = `0x${string}`

/** A 20-byte account address in lower-case hex, as everywhere inside the service. */
export type Address = Hex

const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const BYTES32 = /^0x[0-9a-fA-F]{64}$/
const LOWER_CASE_BYTES32 = /^0x[0-9a-f]{64}$/

/**
 * Reads a 20-byte address in any letter case (docs/decisions.md, D3).
 * @returns the address in lower case, or undefined when `text` is not one
 */
export function parseAddress(text: unknown): Address | undefined {
  return typeof text === 'string' && ADDRESS.test(text) ? (text.toLowerCase() as Address) : undefined
}

/**
 * Reads 32 bytes of hex in any letter case, such as an order id.
 * @returns the text in lower case, or undefined when `text` is not 32 bytes of hex
 */
export function parseBytes32(text: unknown): Hex | undefined {
  if (typeof text !== 'string') return undefined
  if (LOWER_CASE_BYTES32.test(text)) return text as Hex
  return BYTES32.test(text) ? (text.toLowerCase() as Hex) : undefined
}
