import { AMOUNT, MAX_UINT256, type TextRule, UINT256 } from '../field-rules.js'

/**
 * Reads a decimal uint256 without sign, point, exponent or leading zeros (docs/decisions.md, D4).
 * @returns the value, or undefined when `text` is anything else, also for a JSON number
 */
export function parseUint256(text: unknown): bigint | undefined {
  return parseDecimal(UINT256, text)
}

/** Reads a decimal uint256 that is not zero, like `parseUint256`. */
export function parseAmount(text: unknown): bigint | undefined {
  return parseDecimal(AMOUNT, text)
}

function parseDecimal({ pattern }: Pick<TextRule, 'pattern'>, text: unknown): bigint | undefined {
  if (typeof text !== 'string' || !pattern.test(text)) return undefined
  const value = BigInt(text)
  return value <= MAX_UINT256 ? value : undefined
}
