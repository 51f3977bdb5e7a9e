import { type DescEnum, type DescField, type DescMessage, type Message, ScalarType } from '@bufbuild/protobuf'
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt'
import { jsonNames } from './json-names.js'

/** Writes one message type as the JSON values of decisions.md D3. */
export type JsonWriter = (message: Message) => Record<string, unknown>

type WriteValue = (value: unknown) => unknown

/**
 * Compiles a writer: 64-bit integers become numbers, enum values plain names, zero values stay, unset optional
 * fields are left out.
 * @throws when the message has a field of a kind that answers of this service do not have
 */
export function compileJsonWriter(descriptor: DescMessage): JsonWriter {
  const fields = descriptor.fields.map((field) => ({
    name: field.jsonName,
    localName: field.localName,
    write: compileField(field),
    isOptional: field.presence === FeatureSet_FieldPresence.EXPLICIT,
  }))
  return (message) => {
    const values = message as unknown as Record<string, unknown>
    const json: Record<string, unknown> = {}
    for (const { name, localName, write, isOptional } of fields) {
      const value = values[localName]
      if (isOptional && value === undefined) continue
      json[name] = write(value)
    }
    return json
  }
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
  return new Error(`${field}: answers have no fields of this kind`)
}
