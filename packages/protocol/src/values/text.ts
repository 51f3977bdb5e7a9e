import { AMOUNT, type IntegerRule, MAX_UINT256, type TextRule, UINT256 } from '../field-rules.js'

/**
 * Characters that a terminal executes, hides or reorders: control, format and unassigned characters, line separators, and
 * characters that are invisible by default. The two selectors of an emoji's style are excluded, because they are harmless.
 */
const UNPRINTABLE = /(?![\ufe0e\ufe0f])[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu
const BEYOND_ASCII = /[^\n\x20-\x7e]/

/** Whether a value is a text that satisfies a rule. */
export function isTextOf({ pattern, minLength = 0, maxLength }: TextRule, value: unknown): value is string {
  if (typeof value !== 'string' || !pattern.test(value)) return false
  const { length } = [...value]
  return length >= minLength && length <= (maxLength ?? length)
}

/** Most values in JSON text from strangers. An offer has some twenty, and a request at most 256 in a list. */
const MAX_VALUES = 1000
const [COMMA, BRACKET, BRACE] = [0x2c, 0x5b, 0x7b]

/** Whether JSON text has so many values that it takes milliseconds to parse: 64 KiB of nested lists take nine. */
export function hasTooManyValues(json: string): boolean {
  if (json.length <= MAX_VALUES) return false
  let values = 0
  for (let index = 0; index < json.length; index++) {
    const code = json.charCodeAt(index)
    if ((code === COMMA || code === BRACKET || code === BRACE) && ++values > MAX_VALUES) return true
  }
  return false
}

/** Replaces unprintable characters, including line feeds, by `?`. */
export function replaceUnprintable(text: string): string {
  return text.replace(UNPRINTABLE, '?')
}

/** Escapes unprintable characters in JSON text. Its value stays the same. Line feeds between its parts are kept. */
export function escapeUnprintable(json: string): string {
  if (!BEYOND_ASCII.test(json)) return json
  return json.replace(UNPRINTABLE, (character) => (character === '\n' ? character : escaped(character)))
}

/** The escapes of a character's one or two UTF-16 units. */
function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}

/** Truncates text after `maxLength` UTF-16 units, but never within a character. */
export function shorten(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const isWithinPair = /[\ud800-\udbff]/.test(text.charAt(maxLength - 1))
  return `${text.slice(0, isWithinPair ? maxLength - 1 : maxLength)}…`
}

/** A part of a URL without its escapes; the part itself where they are malformed. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

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
