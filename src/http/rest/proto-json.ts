import {
  create,
  type DescEnum,
  type DescField,
  type DescMessage,
  type Message,
  ScalarType,
} from '@bufbuild/protobuf'
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt'
import { ChainStatusSchema } from '../../../gen/aggregator/v1/chain_health_pb.js'
import { EventTypeSchema } from '../../../gen/aggregator/v1/event_pb.js'
import { CallSchema, VerifyModeSchema } from '../../../gen/aggregator/v1/quote_pb.js'
import { type FieldViolation, invalidArgument } from '../../../packages/protocol/src/errors.js'
import { type IntegerRule, UINT32, UINT64 } from '../../../packages/protocol/src/field-rules.js'
import { isIntegerOf, parseInteger } from '../../../packages/protocol/src/values/text.js'

/** Reads one message type from the JSON of docs/decisions.md, D3: ProtoJSON with plain enum names. */
interface JsonReader {
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
  /** Reads the JSON object of a message; undefined for other fields. */
  readonly nested?: JsonReader
}

/** A JSON object whose fields are not checked yet. */
export type JsonObject = Readonly<Record<string, unknown>>

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
  const readers = fields.map(fieldReader)
  return {
    read(source) {
      const values: Record<string, unknown> = {}
      const violations: FieldViolation[] = []
      for (const { field, read, mustBe, nested } of readers) {
        const json = source(field)
        if (json === undefined || json === null) continue
        const value = read(json)
        if (value === undefined) violations.push({ field: field.jsonName, message: mustBe })
        else if (nested === undefined) values[field.localName] = value
        else {
          const inner = nested.read((member) => fieldValue(value as JsonObject, member))
          values[field.localName] = inner.message
          for (const { field: name, message } of inner.violations)
            violations.push({ field: `${field.jsonName}.${name}`, message })
        }
      }
      return { message: create(descriptor, values), violations }
    },
  }
}

/** ProtoJSON readers accept a field by its JSON name or by its name in the proto, but not by both at once. */
export function fieldValue(json: JsonObject, field: DescField): unknown {
  const value = Object.hasOwn(json, field.jsonName) ? json[field.jsonName] : undefined
  if (field.name === field.jsonName || !Object.hasOwn(json, field.name)) return value
  if (value === undefined) return json[field.name]
  throw invalidArgument([{ field: field.jsonName, message: 'must be given once' }])
}

function fieldReader(field: DescField): FieldReader {
  if (field.oneof !== undefined) throw unsupported(field)
  switch (field.fieldKind) {
    case 'scalar':
      return { field, ...scalarReader(field, field.scalar) }
    case 'enum':
      return { field, ...enumReader(field.enum) }
    case 'message':
      return { field, nested: compileJsonReader(field.message), ...OBJECT }
    case 'list':
      if (field.listKind === 'scalar') return { field, ...listOf(scalarReader(field, field.scalar)) }
      if (field.listKind === 'enum') return { field, ...listOf(enumReader(field.enum)) }
  }
  throw unsupported(field)
}

const OBJECT: ValueReader = {
  read: (value) => (typeof value === 'object' && !Array.isArray(value) ? value : undefined),
  mustBe: 'must be a JSON object',
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

function enumReader(descriptor: DescEnum): ValueReader {
  const numbers = new Map([...jsonNames(descriptor)].map(([number, name]) => [name, number]))
  const names = [...numbers.keys()].filter((name) => numbers.get(name) !== 0)
  return {
    read: (value) => (typeof value === 'string' ? numbers.get(value) : undefined),
    mustBe: `must be ${names.join(' or ')}`,
  }
}

function scalarReader(field: DescField, scalar: ScalarType): ValueReader {
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

/** Writes a message, or the object that initialises one, as the JSON values of docs/decisions.md, D3. */
export type JsonWriter = (message: object) => Record<string, unknown>

type WriteValue = (value: unknown) => unknown

/**
 * Compiles a writer. 64-bit integers become numbers, and enum values become plain names. Zero values are present, unset
 * optional fields are absent.
 * @throws when the message has a field of an unsupported kind
 */
export function compileJsonWriter(descriptor: DescMessage): JsonWriter {
  const fields = descriptor.fields.map((field) => ({
    name: field.jsonName,
    localName: field.localName,
    isAbsentWhenEmpty: isAbsentWhenEmpty(field),
    zero: field.presence === FeatureSet_FieldPresence.EXPLICIT ? undefined : zeroOf(field),
    write: fieldWriter(field),
  }))
  return (message) => {
    const values = message as Record<string, unknown>
    const json: Record<string, unknown> = {}
    for (const { name, localName, zero, isAbsentWhenEmpty, write } of fields) {
      const value = values[localName] ?? zero
      const isAbsent = isAbsentWhenEmpty && (value as unknown[]).length === 0
      if (value !== undefined && !isAbsent) json[name] = write(value)
    }
    return json
  }
}

/** Whether a list is absent, rather than empty: that of calls, which only some requests want (docs/decisions.md, D28). */
export function isAbsentWhenEmpty(field: DescField): boolean {
  return field.fieldKind === 'list' && field.message?.typeName === CallSchema.typeName
}

/** The value of a field without presence that is not set. */
function zeroOf(field: DescField): unknown {
  if (field.fieldKind === 'list') return []
  const scalar = field.fieldKind === 'scalar' ? field.scalar : undefined
  if (scalar === ScalarType.BOOL) return false
  return scalar === ScalarType.STRING ? '' : 0
}

function fieldWriter(field: DescField): WriteValue {
  if (field.oneof !== undefined) throw unsupported(field)
  switch (field.fieldKind) {
    case 'scalar':
      return scalarWriter(field, field.scalar)
    case 'enum':
      return enumWriter(field.enum)
    case 'message':
      return compileJsonWriter(field.message) as WriteValue
    case 'list': {
      if (field.listKind === 'enum') break
      const write =
        field.listKind === 'message'
          ? (compileJsonWriter(field.message) as WriteValue)
          : scalarWriter(field, field.scalar)
      return (value) => (value as unknown[]).map(write)
    }
  }
  throw unsupported(field)
}

function scalarWriter(field: DescField, scalar: ScalarType): WriteValue {
  switch (scalar) {
    case ScalarType.STRING:
    case ScalarType.UINT32:
    case ScalarType.DOUBLE:
    case ScalarType.BOOL:
      return (value) => value
    case ScalarType.UINT64:
      return Number
    default:
      throw unsupported(field)
  }
}

function enumWriter(descriptor: DescEnum): WriteValue {
  const names = jsonNames(descriptor)
  return (value) => names.get(value as number)
}

function unsupported(field: DescField): Error {
  return new Error(`${field}: the writer of responses does not support this kind of field`)
}

/** The letter cases of enums that differ from the proto's. */
const CASES: ReadonlyMap<string, (name: string) => string> = new Map([
  // Kinds of events have the names of their messages (docs/decisions.md, D9).
  [EventTypeSchema.typeName, (name) => name.charAt(0) + name.slice(1).toLowerCase()],
  // The status of a chain has the names of `/health` (docs/decisions.md, D11).
  [ChainStatusSchema.typeName, (name) => name.toLowerCase()],
  // Verify modes have the names of VERIFY_QUOTES (docs/decisions.md, D13).
  [VerifyModeSchema.typeName, (name) => name.toLowerCase()],
])

/** The JSON names of an enum's values. They have no type prefix: `EXACT_INPUT` (docs/decisions.md, D3). */
export function jsonNames(descriptor: DescEnum): ReadonlyMap<number, string> {
  const prefix = descriptor.sharedPrefix ?? ''
  const toCase = CASES.get(descriptor.typeName) ?? ((name) => name)
  return new Map(descriptor.values.map(({ number, name }) => [number, toCase(name.slice(prefix.length))]))
}
