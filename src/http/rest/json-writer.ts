import { type DescEnum, type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf'
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt'
import { jsonNames } from './json-names.js'

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
    zero: field.presence === FeatureSet_FieldPresence.EXPLICIT ? undefined : zeroOf(field),
    write: compileField(field),
  }))
  return (message) => {
    const values = message as Record<string, unknown>
    const json: Record<string, unknown> = {}
    for (const { name, localName, zero, write } of fields) {
      const value = values[localName] ?? zero
      if (value !== undefined) json[name] = write(value)
    }
    return json
  }
}

/** The value of a field without presence that is not set. */
function zeroOf(field: DescField): unknown {
  if (field.fieldKind === 'list') return []
  const scalar = field.fieldKind === 'scalar' ? field.scalar : undefined
  if (scalar === ScalarType.BOOL) return false
  return scalar === ScalarType.STRING ? '' : 0
}

function compileField(field: DescField): WriteValue {
  if (field.oneof !== undefined) throw unsupported(field)
  switch (field.fieldKind) {
    case 'scalar':
      return compileScalar(field, field.scalar)
    case 'enum':
      return compileEnum(field.enum)
    case 'message':
      return compileJsonWriter(field.message) as WriteValue
    case 'list': {
      if (field.listKind === 'enum') break
      const write =
        field.listKind === 'message'
          ? (compileJsonWriter(field.message) as WriteValue)
          : compileScalar(field, field.scalar)
      return (value) => (value as unknown[]).map(write)
    }
  }
  throw unsupported(field)
}

function compileScalar(field: DescField, scalar: ScalarType): WriteValue {
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

function compileEnum(descriptor: DescEnum): WriteValue {
  const names = jsonNames(descriptor)
  return (value) => names.get(value as number)
}

function unsupported(field: DescField): Error {
  return new Error(`${field}: the writer of responses does not support this kind of field`)
}
