import type { TextRule } from '../field-rules.js'
import { isTextOf } from './text.js'

const MAX_LENGTH = 64

/**
 * Characters that a name must not have. These are control and format characters, unpaired surrogates, private and
 * unassigned characters, and line and paragraph separators. In addition: characters that Unicode ignores by default (such
 * as Hangul fillers and variation selectors), Braille's blank and three others, which fonts show as nothing or a blank.
 */
const REFUSED =
  '\\p{C}\\p{Zl}\\p{Zp}' +
  '\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u3164\\ufe00-\\ufe0f\\uffa0\\u{e0100}-\\u{e01ef}' +
  '\\u2800\\u{13441}\\u{13442}\\u{16fe4}\\u{1d159}'
const BLANK = '\\p{Zs}'
/** Marks without a width of their own, which stack on the character before them. */
const STACKED = '[\\p{Mn}\\p{Me}]'
/** Living scripts stack up to three. */
const MAX_STACKED = 4

/**
 * The rule of a solver's name. It begins with a character that marks can stand on and does not end in a blank. It has at
 * most four stacked marks in a row, because more would overlap the lines above and below.
 */
export const DISPLAY_NAME: TextRule = {
  minLength: 1,
  maxLength: MAX_LENGTH,
  pattern: new RegExp(
    `^(?![${BLANK}\\p{M}])(?!.*${STACKED}{${MAX_STACKED + 1}})[^${REFUSED}]*[^${REFUSED}${BLANK}]$`,
    'u',
  ),
  mustBe: `must be 1 to ${MAX_LENGTH} visible characters: no control, format or other invisible characters, no blank at either end, at most ${MAX_STACKED} combining marks in a row`,
}

const MAX_SYMBOL_LENGTH = 32

/** The rule of a token's symbol (docs/decisions.md, D29): that of a name, but shorter. */
export const TOKEN_SYMBOL: TextRule = {
  ...DISPLAY_NAME,
  maxLength: MAX_SYMBOL_LENGTH,
  mustBe: DISPLAY_NAME.mustBe.replace(`${MAX_LENGTH}`, `${MAX_SYMBOL_LENGTH}`),
}

/** Whether a text may be shown as the symbol of a token. */
export function isTokenSymbol(text: string): boolean {
  return isTextOf(TOKEN_SYMBOL, text)
}

/** Whether a solver may register with this name (docs/decisions.md, D5). */
export function isDisplayName(text: string): boolean {
  return isTextOf(DISPLAY_NAME, text)
}
