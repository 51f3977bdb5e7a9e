import { escapeUnprintable, replaceUnprintable } from '../../../protocol/src/values/text.js'
import { DAY_SECONDS } from '../../../protocol/src/values/time.js'

/** Text of others on one line, with `?` for everything that a terminal obeys, hides or reorders. */
export const printable = replaceUnprintable

/** The same for text of several lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n')
}

/** Text of others as one word of a shell's command line, which a person may copy. */
export function shellWord(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** Unix time in seconds in UTC, for a person: `2026-11-20 12:19:45 UTC`. */
export function formatTime(seconds: number): string {
  const date = new Date(seconds * 1000)
  if (Number.isNaN(date.getTime())) return `${seconds} s after 1970`
  return date
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, ' UTC')
}

/** A duration in its largest fitting unit, such as `4 min`. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000)
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`
  return `${Math.round(seconds / DAY_SECONDS)} days`
}

/** How often each word comes: `2 quoted, 1 late`; empty without words. */
export function countWords(words: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return [...counts].map(([word, count]) => `${count} ${word}`).join(', ')
}

/**
 * How much worse an amount is than a better one, in per cent of that: `-0.07 %`.
 * @param best both in the token's smallest unit
 * @returns empty when `best` is 0, of which there is no part
 */
export function formatBehind(amount: bigint, best: bigint): string {
  if (best === 0n) return ''
  const difference = amount > best ? amount - best : best - amount
  const hundredths = (difference * 1_000_000n) / best
  const sign = amount < best ? '-' : '+'
  return `${sign}${(Number(hundredths) / 10_000).toFixed(2)} %`
}

/**
 * JSON text of a value. Amounts, which are `bigint`, become decimal strings. Unprintable characters are
 * escaped.
 */
export function toJson(value: unknown, indent?: number): string {
  const replacer = (_key: string, item: unknown) => (typeof item === 'bigint' ? item.toString() : item)
  return escapeUnprintable(JSON.stringify(value, replacer, indent))
}
