import {
  create,
  type DescEnum,
  type DescField,
  type DescMessage,
  type Message,
  ScalarType,
} from '@bufbuild/protobuf'
import type { FieldViolation } from '../../domain/errors.js'
import { type IntegerRule, UINT32, UINT64 } from '../../domain/field-rules.js'
import { isIntegerOf, parseInteger } from '../../domain/values/integer.js'
import { jsonNames } from './json-names.js'

/** Reads one message type from the JSON of docs/decisions.md, D3: ProtoJSON with plain enum names. */
export interface JsonReader {
  /**
   * @param source gives a field's value: the JSON value of a body, or the text of a path or query
   * @returns the message, and every field whose value is invalid; such a field is not set
   */
  read(source: (field: DescField) => unknown): { message: Message; violations: FieldViolation[] }
}

/** Turns a JSON value into a field's value; undefined when it is invalid. */
type ReadValue = (value: unknown) => unknown

interface ValueReader {
  readonly read: ReadValue
  readonly mustBe: string
}

interface FieldReader extends ValueReader {
  readonly field: DescField
}

/** The text is that of a query. */
const BOOLEANS: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  [true, true],
  ['true', true],
  [false, false],
  ['false', false],
])

/**
 * Compiles a reader.
 * @param fields those that it reads
 * @throws when the message has a field of an unsupported kind
 */
export function compileJsonReader(
  descriptor: DescMessage,
  fields: readonly DescField[] = descriptor.fields,
): JsonReader {
  const readers = fields.map(compileField)
  return {
    read(source) {
      const values: Record<string, unknown> = {}
      const violations: FieldViolation[] = []
      for (const { field, read, mustBe } of readers) {
        const json = source(field)
        if (json === undefined || json === null) continue
        const value = read(json)
        if (value === undefined) violations.push({ field: field.jsonName, message: mustBe })
        else values[field.localName] = value
      }
      return { message: create(descriptor, values), violations }
    },
  }
}

function compileField(field: DescField): FieldReader {
  if (field.oneof !== undefined) throw unsupported(field)
  switch (field.fieldKind) {
    case 'scalar':
      return { field, ...compileScalar(field, field.scalar) }
    case 'enum':
      return { field, ...compileEnum(field.enum) }
    case 'list':
      if (field.listKind === 'scalar') return { field, ...listOf(compileScalar(field, field.scalar)) }
      if (field.listKind === 'enum') return { field, ...listOf(compileEnum(field.enum)) }
  }
  throw unsupported(field)
}

/** In a query, a list repeats its name; a list of one item is that item. */
function listOf({ read, mustBe }: ValueReader): ValueReader {
  return {
    read(value) {
      const items = [value].flat().map(read)
      return items.includes(undefined) ? undefined : items
    },
    mustBe,
  }
}

function compileEnum(descriptor: DescEnum): ValueReader {
  const numbers = new Map([...jsonNames(descriptor)].map(([number, name]) => [name, number]))
  const names = [...numbers.keys()].filter((name) => numbers.get(name) !== 0)
  return {
    read: (value) => (typeof value === 'string' ? numbers.get(value) : undefined),
    mustBe: `must be ${names.join(' or ')}`,
  }
}

function compileScalar(field: DescField, scalar: ScalarType): ValueReader {
  switch (scalar) {
    case ScalarType.STRING:
      return { read: (value) => (typeof value === 'string' ? value : undefined), mustBe: 'must be a string' }
    case ScalarType.BOOL:
      return { read: (value) => BOOLEANS.get(value), mustBe: 'must be true or false' }
    case ScalarType.UINT32:
      return { read: (value) => readInteger(UINT32, value), mustBe: UINT32.mustBe }
    case ScalarType.UINT64:
      return { read: readBigInt, mustBe: UINT64.mustBe }
    default:
      throw unsupported(field)
  }
}

/** Accepts numbers and decimal strings. Beyond 2^53 a JSON number may have lost digits, so it is invalid. */
function readInteger(rule: IntegerRule, value: unknown): number | undefined {
  const number = typeof value === 'string' ? parseInteger(value) : value
  return isIntegerOf(rule, number) ? number : undefined
}

function readBigInt(value: unknown): bigint | undefined {
  const number = readInteger(UINT64, value)
  return number === undefined ? undefined : BigInt(number)
}

function unsupported(field: DescField): Error {
  return new Error(`${field}: the reader of requests does not support this kind of field`)
}
