import type { IntegerRule } from '../field-rules.js'

const DECIMAL = /^(0|[1-9][0-9]{0,15})$/
const DIGITS = /^[0-9]+$/

/** Whether a value is an integer that satisfies a rule. */
export function isIntegerOf({ minimum, maximum }: IntegerRule, value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= minimum && (value as number) <= maximum
}

/**
 * Reads a decimal integer of 0 to 2^53-1 without sign, exponent or leading zeros.
 * @returns undefined when `text` is not one
 */
export function parseInteger(text: string): number | undefined {
  if (!DECIMAL.test(text)) return undefined
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : undefined
}

/** Reads decimal digits, with leading zeros or without; NaN for any other text. */
export function parseDigits(text: string): number {
  return DIGITS.test(text) ? Number(text) : Number.NaN
}
