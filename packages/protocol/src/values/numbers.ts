import { AMOUNT, type IntegerRule, MAX_UINT256, type TextRule, UINT256 } from '../field-rules.js'

/** Whether a value is an integer that satisfies a rule. */
export function isIntegerOf({ minimum, maximum }: IntegerRule, value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= minimum && (value as number) <= maximum
}

/**
 * Reads a decimal integer of 0 to 2^53-1 without sign, exponent or leading zeros.
 * @returns undefined when `text` is not one
 */
export function parseInteger(text: string): number | undefined {
  if (!/^(0|[1-9][0-9]{0,15})$/.test(text)) return undefined
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : undefined
}

/** Reads decimal digits, with leading zeros or without; NaN for any other text. */
export function parseDigits(text: string): number {
  return /^[0-9]+$/.test(text) ? Number(text) : Number.NaN
}

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

/**
 * Reads an EIP-155 chain id: a decimal integer of 1 to 2^53-1 without sign, exponent or leading zeros. Every JSON reader
 * reads it as the same number (docs/decisions.md, D7).
 * @returns the chain id, or undefined when `text` is not one
 */
export function parseChainId(text: string): number | undefined {
  return parseInteger(text) || undefined
}
