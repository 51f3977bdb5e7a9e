const DECIMAL = /^(0|[1-9][0-9]{0,77})$/
const UINT256_MAX = 2n ** 256n - 1n

/**
 * Reads a decimal uint256 without sign, point, exponent or leading zeros (docs/decisions.md, D4).
 * @returns the value, or undefined when `text` is anything else, also for a JSON number
 */
export function parseUint256(text: unknown): bigint | undefined {
  if (typeof text !== 'string' || !DECIMAL.test(text)) return undefined
  const value = BigInt(text)
  return value <= UINT256_MAX ? value : undefined
}
