import { type Address, getAddress, isAddress, isHex } from 'viem'
import { UINT64 } from '../../../protocol/src/field-rules.js'
import { parseBytes32 } from '../../../protocol/src/values/hex.js'
import { isIntegerOf, parseUint256 } from '../../../protocol/src/values/text.js'
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

/** Builds the reader of a value. @param parse gives undefined for another one */
function readerOf<T>(expected: string, parse: (value: unknown) => T | undefined): Reader<T> {
  return (value) => {
    const read = parse(value)
    if (read === undefined) throw invalid(expected, value)
    return read
  }
}

/** Builds the parser of a number of 0 to `most`. */
const upTo = (most: number) => (value: unknown) =>
  typeof value === 'number' && value >= 0 && value <= most ? value : undefined

/** Reads a decimal uint256. */
export const readUint256 = readerOf('a decimal uint256', parseUint256)
/** Reads 32 bytes of hex. @returns them in lower case */
export const readBytes32 = readerOf('32 bytes in hex', parseBytes32)
/** Reads hex of any length. */
export const readHex = readerOf('hex', (value) => (isHex(value) ? value : undefined))
/** Reads a boolean. */
export const readBoolean = readerOf('a boolean', (value) => (typeof value === 'boolean' ? value : undefined))
/** Reads an integer of 0 to 2^53-1. */
export const readInteger = readerOf('an integer of 0 to 2^53-1', (value) =>
  isIntegerOf(UINT64, value) ? value : undefined,
)
/** Reads a number from 0 to 1. */
export const readShare = readerOf('a number from 0 to 1', upTo(1))
/** Reads a number of at least 0. */
export const readNumber = readerOf('a number of at least 0', upTo(Number.POSITIVE_INFINITY))

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
