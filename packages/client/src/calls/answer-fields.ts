import { type Address, getAddress, type Hex, isAddress, isHex } from 'viem'
import { UINT64 } from '../../../protocol/src/field-rules.js'
import { parseBytes32 } from '../../../protocol/src/values/hex.js'
import { isIntegerOf, parseUint256 } from '../../../protocol/src/values/numbers.js'
import { UnreadableAnswer } from './aggregator-error.js'
import type { Messages, UnknownText, Untrusted } from './message-types.js'

/** Reads a JSON object as a message whose fields are not read yet. @throws UnreadableAnswer, as all readers here */
export function readMessage<Name extends keyof Messages>(value: unknown): Untrusted<Name> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid('an object', value)
  return value as Untrusted<Name>
}

/** Reads a field, or a message. */
export type Reader<T> = (value: unknown) => T

/** The readers of the fields of a message, by their names. Beside each is what the field means. */
export type Readers<Name extends keyof Messages> = {
  readonly [Field in keyof Messages[Name]]?: Reader<unknown>
}

/** A message as its readers make it. */
export type ReadBy<R extends object> = ReturnType<ReturnType<typeof messageReader<R>>>

/**
 * Builds the reader of a message from those of its fields. Others of its fields are left out. What it returns has no name of its own, which
 * the types of an app could not use.
 */
export function messageReader<R extends object>(
  readers: R,
): Reader<{ readonly [Field in keyof R]: R[Field] extends Reader<infer T> ? T : never }> {
  return (value) => {
    const message = readMessage(value) as Readonly<Record<string, unknown>>
    const read = Object.entries(readers).map(([name, readField]) => [name, readField(message[name])])
    return Object.fromEntries(read)
  }
}

/** Builds the reader of a field that may be absent. */
export function optional<T>(read: Reader<T>): Reader<T | undefined> {
  return (value) => (value === undefined ? undefined : read(value))
}

/** Builds the reader of a list. */
export function listOf<T>(read: Reader<T>): Reader<T[]> {
  return (value) => readList(value).map(read)
}

/** Reads a list. */
export function readList(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw invalid('a list', value)
  return value
}

/** Far more than any text of an aggregator has. */
const MAX_TEXT_CHARACTERS = 4_096

/** Reads a text. */
export function readText(value: unknown): string {
  if (typeof value !== 'string' || value.length > MAX_TEXT_CHARACTERS)
    throw invalid(`a text of at most ${MAX_TEXT_CHARACTERS} characters`, value)
  return value
}

/** Reads an address. @returns it in EIP-55 form */
export function readAddress(value: unknown): Address {
  if (typeof value !== 'string' || !isAddress(value, { strict: false })) throw invalid('an address', value)
  return getAddress(value)
}

/** Reads a decimal uint256. */
export function readUint256(value: unknown): bigint {
  const number = parseUint256(value)
  if (number === undefined) throw invalid('a decimal uint256', value)
  return number
}

/** Reads 32 bytes of hex. @returns them in lower case */
export function readBytes32(value: unknown): Hex {
  const bytes = parseBytes32(value)
  if (bytes === undefined) throw invalid('32 bytes in hex', value)
  return bytes
}

/** Reads hex of any length. */
export function readHex(value: unknown): Hex {
  if (!isHex(value)) throw invalid('hex', value)
  return value
}

/** Reads a boolean. */
export function readBoolean(value: unknown): boolean {
  if (typeof value !== 'boolean') throw invalid('a boolean', value)
  return value
}

/** Reads an integer of 0 to 2^53-1. */
export function readInteger(value: unknown): number {
  if (!isIntegerOf(UINT64, value)) throw invalid('an integer of 0 to 2^53-1', value)
  return value
}

/** Reads a number from 0 to 1. */
export function readShare(value: unknown): number {
  if (typeof value !== 'number' || !(value >= 0 && value <= 1)) throw invalid('a number from 0 to 1', value)
  return value
}

/** Reads a number of at least 0. */
export function readNumber(value: unknown): number {
  if (typeof value !== 'number' || !(value >= 0)) throw invalid('a number of at least 0', value)
  return value
}

/** Reads an enum value. One that this version of the client does not know is its text. */
export function readEnum<T extends string>(value: unknown): T | UnknownText {
  if (typeof value !== 'string' || !/^\w{1,64}$/.test(value)) throw invalid('an enum value', value)
  return value as T | UnknownText
}

function invalid(expected: string, actual: unknown): UnreadableAnswer {
  // An object of an instance may be deeper than can be written.
  const text = actual instanceof Object ? 'a value' : `${JSON.stringify(actual)}`.slice(0, 100)
  return new UnreadableAnswer(`${text} instead of ${expected}`)
}
