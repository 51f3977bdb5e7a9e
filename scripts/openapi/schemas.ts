import { type DescEnum, type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf'
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt'
import { UINT32, UINT64 } from '../../packages/protocol/src/field-rules.js'
import { isAbsentWhenEmpty, jsonNames } from '../../src/http/rest/proto-json.js'
import { constraintOf, constraintOfMessage, type JsonSchema, schemaOf } from './constraints.js'
import { descriptionOf } from './descriptions.js'

/**
 * A message as a JSON schema, in the JSON of docs/decisions.md, D3: 64-bit integers are numbers, and enum values are plain
 * names. All fields are required except those that are `optional` in the proto, lists in requests, and lists of calls.
 * @param fields the fields in the JSON: a request has some of its fields in the path
 */
export function messageSchema(
  message: DescMessage,
  fields: readonly DescField[] = message.fields,
): JsonSchema {
  return {
    type: 'object',
    description: descriptionOf(message),
    required: fields.filter(isRequired).map((field) => field.jsonName),
    properties: Object.fromEntries(fields.map((field) => [field.jsonName, fieldSchema(field)])),
    ...constraintOfMessage(message),
  }
}

/** A field's values as a JSON schema; messages are references to `#/components/schemas`. */
export function fieldSchema(field: DescField): JsonSchema {
  return { ...valueSchema(field), description: fieldDescription(field) }
}

/** A field's comment, with the comments of the enum values that it can have. */
export function fieldDescription(field: DescField): string {
  return field.enum === undefined
    ? descriptionOf(field)
    : `${descriptionOf(field)}\n\n${valuesDescription(field.enum, constraintOf(field)?.enum)}`
}

/** Whether a request or response must have the field. */
export function isRequired(field: DescField): boolean {
  // Every field that is a message has explicit presence.
  return field.fieldKind === 'message'
    ? !field.proto.proto3Optional
    : field.presence !== FeatureSet_FieldPresence.EXPLICIT && !isAbsentWhenEmpty(field)
}

/** These messages and all messages that they refer to, by their names in `#/components/schemas`. */
export function namedSchemas(messages: readonly DescMessage[]): Record<string, JsonSchema> {
  if (messages.length === 0) return {}
  const referred = messages.flatMap(({ fields }) => fields.flatMap(({ message }) => message ?? []))
  const own = messages.map((message) => [message.name, messageSchema(message)])
  return { ...Object.fromEntries(own), ...namedSchemas(referred) }
}

/** A reference to a message's schema among the named ones. */
export function schemaReference({ name }: DescMessage): JsonSchema {
  return { $ref: `#/components/schemas/${name}` }
}

function valueSchema(field: DescField): JsonSchema {
  switch (field.fieldKind) {
    case 'scalar':
      return { ...scalarSchema(field, field.scalar), ...constraintOf(field) }
    case 'enum':
      return { ...enumSchema(field.enum), ...constraintOf(field) }
    case 'message':
      return schemaReference(field.message)
    case 'list':
      return { type: 'array', items: itemSchema(field) }
  }
  throw unsupported(field)
}

function itemSchema(field: DescField & { fieldKind: 'list' }): JsonSchema {
  switch (field.listKind) {
    case 'scalar':
      return { ...scalarSchema(field, field.scalar), ...constraintOf(field) }
    case 'enum':
      return enumSchema(field.enum)
    case 'message':
      return schemaReference(field.message)
  }
}

function scalarSchema(field: DescField, scalar: ScalarType): JsonSchema {
  switch (scalar) {
    case ScalarType.STRING:
      return { type: 'string' }
    case ScalarType.BOOL:
      return { type: 'boolean' }
    case ScalarType.DOUBLE:
      return { type: 'number', minimum: 0 }
    case ScalarType.UINT32:
      return { type: 'integer', ...schemaOf(UINT32) }
    case ScalarType.UINT64:
      return { type: 'integer', ...schemaOf(UINT64) }
    default:
      throw unsupported(field)
  }
}

/** The names except that of zero, which is invalid in requests and never returned. */
export function enumSchema(descriptor: DescEnum): JsonSchema {
  return { type: 'string', enum: namedValues(descriptor).map(({ name }) => name) }
}

/** The comments of an enum's values, as a list. @param names of the values to describe; default all */
export function valuesDescription(descriptor: DescEnum, names?: unknown): string {
  return namedValues(descriptor)
    .filter(({ name }) => !Array.isArray(names) || names.includes(name))
    .map(({ name, description }) => `- \`${name}\`: ${description}`)
    .join('\n')
}

function namedValues(descriptor: DescEnum): { name: string; description: string }[] {
  const names = jsonNames(descriptor)
  return descriptor.values
    .filter(({ number }) => number !== 0)
    .map((value) => ({ name: names.get(value.number) ?? value.name, description: descriptionOf(value) }))
}

function unsupported(field: DescField): Error {
  return new Error(`${field}: the schemas do not support this kind of field`)
}
