import { InvalidArgumentError } from 'commander'
import { systemClock } from '../../protocol/src/clock.js'
import { MAX_UINT256 } from '../../protocol/src/field-rules.js'
import { type Address, type Hex, parseAddress, parseBytes32 } from '../../protocol/src/values/hex.js'
import { parseChainId, parseDigits } from '../../protocol/src/values/text.js'
import { DAY_MS } from '../../protocol/src/values/time.js'

export const TIME_HELP = 'such as 2026-11-28T12:00Z, 12:00 (today, UTC), or 90m, 2h or 1d ago'
const UNITS_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: DAY_MS }

/** Readers of arguments for commander: each throws InvalidArgumentError with what the argument must be. */

export function readChainId(text: string): number {
  return required(parseChainId(text), 'It must be a chain id, such as 1.')
}

export function readAddress(text: string): Address {
  return required(parseAddress(text), 'It must be an address: 20 bytes in hex with 0x.')
}

export function readOrderId(text: string): Hex {
  return required(parseBytes32(text), 'It must be an order id: 32 bytes in hex with 0x.')
}

/** A token as a person names it: an address, or a symbol. */
export function readToken(text: string): string {
  const isToken = text.startsWith('0x') ? parseAddress(text) !== undefined : text !== ''
  return required(isToken ? text : undefined, 'It must be an address, or the symbol of a listed token.')
}

/** An amount whose token is not known yet. */
export function readAmount(text: string): string {
  const isAmount = /^(0|[1-9][0-9]{0,77})(\.[0-9]{1,255})?$/.test(text) && /[1-9]/.test(text)
  return required(isAmount ? text : undefined, 'It must be a number above 0, such as 1.5 or 1000000.')
}

/** The smallest units of an amount that `readAmount` has read; undefined for more decimals than these, or above 2^256-1. */
export function toUnits(amount: string, decimals: number): bigint | undefined {
  const [whole, fraction = ''] = amount.split('.')
  const units = BigInt(whole + fraction.padEnd(decimals, '0'))
  return fraction.length <= decimals && units <= MAX_UINT256 ? units : undefined
}

/** An amount in the token's smallest unit. */
export function readUnits(text: string): bigint {
  const units = /^[1-9][0-9]{0,77}$/.test(text) ? BigInt(text) : 0n
  return required(
    units > 0n && units <= MAX_UINT256 ? units : undefined,
    'It must be 1 to 2^256-1, in the smallest unit.',
  )
}

/** A reader of whole numbers in a range. */
export function readInteger(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = parseDigits(text)
    return required(value >= min && value <= max ? value : undefined, `It must be ${min} to ${max}.`)
  }
}

/** A port, or 0 for any free one. */
export const readPort = readInteger(0, 65_535)

/** A reader of whole numbers within the limits of a field. */
export function readIn({ minimum, maximum }: { readonly minimum: number; readonly maximum: number }) {
  return readInteger(minimum, maximum)
}

/** A reader of an option that may be repeated: all values, in order. */
export function readEach<T>(
  read: (text: string) => T,
): (text: string, before?: readonly T[]) => readonly T[] {
  return (text, before = []) => [...before, read(text)]
}

/** A reader of one of these values, in any letter case. */
export function readOneOf<T extends string>(allowed: readonly T[]): (text: string) => T {
  return (text) =>
    required(
      allowed.find((item) => item.toLowerCase() === text.toLowerCase()),
      `It must be one of ${allowed.join(', ')}.`,
    )
}

/** A duration such as `90m`, `12h` or `7d`. @returns milliseconds; undefined for any other text */
export function parseDuration(text: string): number | undefined {
  const [, count, unit = ''] = /^([1-9][0-9]{0,4})([mhd])$/.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * (UNITS_MS[unit] ?? 0)
}

/** A time as a person writes it. @returns Unix time in milliseconds */
export function readTime(text: string): number {
  const ago = parseDuration(text)
  if (ago !== undefined) return systemClock.now() - ago
  const today = new Date(systemClock.now()).toISOString().slice(0, 10)
  const time = Date.parse(/^\d\d:\d\d(:\d\d)?$/.test(text) ? `${today}T${text}Z` : text)
  if (Number.isNaN(time)) throw new InvalidArgumentError(`It must be a time, ${TIME_HELP}.`)
  return time
}

function required<T>(value: T | undefined, mustBe: string): T {
  if (value === undefined) throw new InvalidArgumentError(mustBe)
  return value
}
