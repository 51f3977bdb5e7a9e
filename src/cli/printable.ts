/** Text of others with nothing in it that a terminal would obey: control characters become `?`. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, '?')
}

/** Unix time in seconds as a person reads it, in UTC. */
export function formatTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('T', ' ').replace('.000Z', ' UTC')
}

/** A length of time in its largest fitting unit, such as `4 min`. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000)
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`
  return `${Math.round(seconds / 86_400)} days`
}

/**
 * How far an amount lies behind a better one, in per cent of that: `-0.07 %`.
 * @param best both in the token's smallest unit; `best` is not 0
 */
export function formatBehind(amount: bigint, best: bigint): string {
  const difference = amount > best ? amount - best : best - amount
  const hundredths = (difference * 1_000_000n) / best
  const sign = amount < best ? '-' : '+'
  return `${sign}${(Number(hundredths) / 10_000).toFixed(2)} %`
}

/** JSON text of a value; amounts, which are `bigint`, become decimal strings. */
export function toJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, (_key, item) => (typeof item === 'bigint' ? item.toString() : item), indent)
}
