import { type Address, getAddress, type Hex, isAddress, isHex } from 'viem'
import { parseUint256 } from '../../../src/domain/amount.js'
import { parseBytes32 } from '../../../src/domain/hex.js'
import { AggregatorError } from './errors.js'

/** Reads an address. @returns it in EIP-55 form @throws AggregatorError ANSWER_INVALID, as all readers here */
export function readAddress(text: string): Address {
  if (!isAddress(text, { strict: false })) throw invalid('an address', text)
  return getAddress(text)
}

/** Reads a decimal uint256. */
export function readUint256(text: string): bigint {
  const value = parseUint256(text)
  if (value === undefined) throw invalid('a decimal uint256', text)
  return value
}

/** Reads 32 bytes of hex. @returns them in lower case */
export function readBytes32(text: string): Hex {
  const value = parseBytes32(text)
  if (value === undefined) throw invalid('32 bytes in hex', text)
  return value
}

/** Reads hex of any length. */
export function readHex(text: string): Hex {
  if (!isHex(text)) throw invalid('hex', text)
  return text
}

/** Reads an integer that fits a number. */
export function readInteger(value: bigint): number {
  const number = Number(value)
  if (!Number.isSafeInteger(number)) throw invalid('an integer below 2^53', String(value))
  return number
}

/** Reads an enum's number by the names of its values. */
export function readChoice<T extends string>(names: Readonly<Record<number, T>>, value: number): T {
  const name = names[value]
  if (name === undefined) throw invalid(`one of ${Object.values(names).join(', ')}`, String(value))
  return name
}

/** Reads a member that must be there. */
export function readPresent<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw invalid(what, 'nothing')
  return value
}

function invalid(expected: string, actual: string): AggregatorError {
  return new AggregatorError(
    'ANSWER_INVALID',
    `The instance answered ${actual.slice(0, 100)} instead of ${expected}.`,
  )
}
