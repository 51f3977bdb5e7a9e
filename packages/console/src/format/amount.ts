import { advantage } from '../../../protocol/src/quotes/offer.js'

/** U+202F: digits in groups of three stay on one line. */
const GAP = '\u202f'
const MINUS = '\u2212'
const SUPERSCRIPT = '⁰¹²³⁴⁵⁶⁷⁸⁹'
/** More digits than this after the point are no amount of any token here. */
const MOST_DECIMALS = 36
/** From here on, the power of ten says more than all digits. */
const LARGE_DIGITS = 16
/** The most digits after the point that are shown. */
const MOST_SHOWN = 12
/** Tokens of so few decimals are mostly money, which has cents. */
const MONEY_DECIMALS = 6
/** A price of less than one, and an amount that is no money, has so many digits that say something. */
const RATE_DIGITS = 6
/** A receipt has more: of a rate in all, of an amount after the point. */
const RECEIPT_DIGITS = 8

/**
 * Formats an amount for reading: grouped, cut off (never rounded up). Money has its cents, other amounts the digits that a person needs
 * to find their rate. Only an amount that would be nearly nothing has more.
 * @param amount in the token's smallest unit
 * @param decimals of the token; undefined shows the smallest units themselves
 * @param fraction digits after the point; by the decimals of the token when left out
 */
export function formatAmount(amount: bigint, decimals: number | undefined, fraction?: number): string {
  if (decimals === undefined) return formatUnits(amount)
  const { whole, fraction: digits } = split(amount, decimals)
  if (whole.length > LARGE_DIGITS - 1) return powerOfTen(whole)
  const zeros = whole === '0' ? (/^0*/.exec(digits)?.[0].length ?? 0) : 0
  const wanted = fraction ?? usualFraction(decimals, whole === '0' ? -zeros : whole.length)
  const cut = digits.slice(0, Math.min(zeros < wanted || amount === 0n ? wanted : zeros + 3, MOST_SHOWN))
  if (whole === '0' && amount > 0n && !/[1-9]/.test(cut)) return `<0.${'0'.repeat(cut.length - 1)}1`
  const shown = fraction ? cut : trim(cut).padEnd(Math.min(usualFraction(decimals), decimals), '0')
  return shown === '' ? group(whole) : `${group(whole)}.${shown}`
}

/** An amount of a receipt: with all digits that a person needs to compute with it, and no zeros after them but cents. */
export function formatReceipt(amount: bigint, decimals: number | undefined): string {
  const [whole = '', digits = ''] = formatAmount(amount, decimals, RECEIPT_DIGITS).split('.')
  const shown = digits && trim(digits).padEnd(usualFraction(decimals) === 2 ? 2 : 0, '0')
  return shown === '' ? whole : `${whole}.${shown}`
}

/** The exact amount, without groups: for copying and for the field that it is typed in. */
export function exactAmount(amount: bigint, decimals: number | undefined): string {
  if (decimals === undefined) return amount.toString()
  const { whole, fraction } = split(amount, decimals)
  const trimmed = trim(fraction)
  return trimmed === '' ? whole : `${whole}.${trimmed}`
}

/** `1,000` is a thousand to some readers, and one to others. */
export const isAmbiguous = (text: string) => /^[1-9]\d{0,2},\d{3}$/.test(text.trim())

/**
 * Reads an amount that a person typed, with a point or a comma before the fraction.
 * @returns in the token's smallest unit; undefined when it is ambiguous or no amount, or has more digits than the token
 */
export function parseAmount(text: string, decimals: number | undefined): bigint | undefined {
  if (isAmbiguous(text)) return undefined
  const plain = text.replace(/[\s\u202f_']/g, '').replace(',', '.')
  const [, whole = '', fraction = ''] = /^(\d{0,78})(?:\.(\d{0,255}))?$/.exec(plain) ?? []
  if (whole === '' && fraction === '') return undefined
  if (fraction.length > (decimals ?? 0)) return undefined
  const amount = BigInt(`${whole || '0'}${fraction.padEnd(decimals ?? 0, '0')}`)
  return amount > 0n && amount < 2n ** 256n ? amount : undefined
}

/** Whether a text is an amount of a token with the most decimals: then it only has too many digits for others. */
export const readsWithMoreDecimals = (text: string) => parseAmount(text, MOST_DECIMALS) !== undefined

/** A change with its sign; what rounds to nothing has none. */
export function formatChange(change: number, digits: number): string {
  const text = Math.abs(change).toFixed(digits)
  return Number(text) === 0 ? text : (change < 0 ? MINUS : '+') + group(text)
}

/** Formats a difference in basis points with its sign: `−7.0 bp`. */
export const formatBps = (bps: number) => `${formatChange(bps, Math.abs(bps) < 1000 ? 1 : 0)} bp`

/**
 * How much better an amount is for the user than another, in basis points of the other.
 * @param isOutput whether more is better; less is better for an input
 */
export function differenceBps(amount: bigint, reference: bigint, isOutput: boolean): number {
  if (reference === 0n) return 0
  return Number((advantage(isOutput, amount, reference) * 1_000_000n) / reference) / 100
}

/** The price of one whole input token in output tokens, rounded; undefined when decimals are not known. */
export function formatRate(
  input: bigint,
  output: bigint,
  inputDecimals: number | undefined,
  outputDecimals: number | undefined,
  isExact = false,
): string | undefined {
  if (inputDecimals === undefined || outputDecimals === undefined || input === 0n) return undefined
  const decimals = outputDecimals + 18
  const scaled = (output * 10n ** BigInt(inputDecimals + 18)) / input
  const { whole, fraction } = split(scaled, decimals)
  const zeros = /^0*/.exec(fraction)?.[0].length ?? 0
  const shown =
    whole === '0'
      ? Math.min(zeros + (isExact ? RECEIPT_DIGITS : RATE_DIGITS), MOST_SHOWN)
      : Math.max(usualFraction(outputDecimals), isExact ? RECEIPT_DIGITS - whole.length : 0)
  const half = output === 0n ? 0n : 5n * 10n ** BigInt(decimals - shown - 1)
  return formatAmount(scaled + half, decimals, shown)
}

/** Groups the digits of a whole number. */
export const group = (digits: string) => digits.replace(/\B(?=(\d{3})+(?!\d))/g, GAP)

/** Formats a share of one as a percentage. Near none and near all, a digit more: 99.5 % is not all. A dash while it is not known. */
export function formatShare(share: number | undefined): string {
  if (share === undefined) return '–'
  const isNearEnd = (share > 0 && share < 0.1) || (share > 0.9 && share < 1)
  return `${(share * 100).toFixed(isNearEnd ? 1 : 0)}${GAP}%`
}

function formatUnits(amount: bigint): string {
  const digits = amount.toString()
  return digits.length > 7 ? powerOfTen(digits) : group(digits)
}

function powerOfTen(digits: string): string {
  const exponent = [...String(digits.length - 1)].map((digit) => SUPERSCRIPT[Number(digit)]).join('')
  return `${digits[0]}.${digits.slice(1, 4)}${GAP}×${GAP}10${exponent}`
}

function split(amount: bigint, decimals: number) {
  const digits = amount.toString().padStart(decimals + 1, '0')
  return {
    whole: digits.slice(0, digits.length - decimals),
    fraction: decimals === 0 ? '' : digits.slice(-decimals),
  }
}

/** @param places of the whole number; less than none after a point and zeros */
const usualFraction = (decimals = 0, places = RATE_DIGITS) =>
  decimals <= MONEY_DECIMALS ? 2 : Math.max(4, RATE_DIGITS - places)

const trim = (fraction: string) => fraction.replace(/0+$/, '')
