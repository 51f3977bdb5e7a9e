/** The longest name, in characters (code points). */
export const MAX_NAME_LENGTH = 64

/**
 * Characters that no name has: control and format characters, half surrogate pairs, private and unassigned ones, line and
 * paragraph separators. So are characters that fonts show as nothing or as a blank: those that Unicode ignores by default
 * and that are in no class before (such as Hangul fillers and variation selectors), Braille's blank and three others.
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
 * What a name matches, as a pattern of JSON Schema (ECMA-262, flag `u`). It begins with a character that marks can stand
 * on, does not end in a blank, and has at most four stacked marks in a row: more would run into the lines above and below.
 */
export const NAME_PATTERN = `^(?![${BLANK}\\p{M}])(?!.*${STACKED}{${MAX_STACKED + 1}})[^${REFUSED}]*[^${REFUSED}${BLANK}]$`

/** What a name must be, for a person. */
export const NAME_MUST_BE = `must be 1 to ${MAX_NAME_LENGTH} visible characters: no control, format or other invisible characters, no blank at either end, at most ${MAX_STACKED} combining marks in a row`

const NAME = new RegExp(NAME_PATTERN, 'u')
const EACH_REFUSED = new RegExp(`[${REFUSED}]`, 'gu')
const EXCESS = new RegExp(`(${STACKED}{${MAX_STACKED}})${STACKED}+`, 'gu')
const ENDS = new RegExp(`^[${BLANK}\\p{M}]+|${BLANK}+$`, 'gu')
const REPLACEMENT = '\ufffd'

/** Whether a solver may register by this name (docs/decisions.md, D5). */
export function isDisplayName(text: string): boolean {
  return NAME.test(text) && [...text].length <= MAX_NAME_LENGTH
}

/**
 * A name that an older version accepted, as one that `isDisplayName` accepts: each refused character becomes U+FFFD, marks
 * too many and blanks at the ends go. A name that is accepted stays as it is.
 */
export function toDisplayName(text: string): string {
  if (isDisplayName(text)) return text
  const mended = text.replace(EACH_REFUSED, REPLACEMENT).replace(EXCESS, '$1').replace(ENDS, '')
  return mended === '' ? REPLACEMENT : mended
}
