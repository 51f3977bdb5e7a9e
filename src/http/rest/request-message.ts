import type { DescField, DescMessage, Message } from '@bufbuild/protobuf'
import type { FastifyRequest } from 'fastify'
import { type FieldViolation, invalidArgument } from '../../domain/errors.js'
import type { RestRoute } from './http-rules.js'
import type { JsonObject } from './json-body.js'
import { compileJsonReader } from './json-reader.js'
import { createQueryCheck } from './query-parameters.js'

/** Reads the message of a request from its path and its body or query; the violations name what cannot be read. */
export type RequestReader = (request: FastifyRequest) => {
  readonly message: Message
  readonly violations: readonly FieldViolation[]
}

/** Compiles the reader of a route. */
export function createRequestReader(input: DescMessage, route: RestRoute): RequestReader {
  const reader = compileJsonReader(input)
  const pathNames = new Set(route.pathFields.map((field) => field.jsonName))
  const queryFields = input.fields.filter((field) => !pathNames.has(field.jsonName))
  const hasQuery = !route.hasBody && queryFields.length > 0
  const checkQuery = hasQuery ? createQueryCheck(queryFields) : () => []

  return ({ params, query, body }) => {
    const path = params as JsonObject
    const rest = ((route.hasBody ? body : query) ?? {}) as JsonObject
    const { message, violations } = reader.read((field) =>
      pathNames.has(field.jsonName) ? path[field.jsonName] : fieldValue(rest, field),
    )
    return { message, violations: [...checkQuery(query as JsonObject), ...violations] }
  }
}

/** ProtoJSON readers accept a field by its JSON name or by its name in the proto, but not by both at once. */
export function fieldValue(json: JsonObject, field: DescField): unknown {
  const value = Object.hasOwn(json, field.jsonName) ? json[field.jsonName] : undefined
  if (field.name === field.jsonName || !Object.hasOwn(json, field.name)) return value
  if (value === undefined) return json[field.name]
  throw invalidArgument([{ field: field.jsonName, message: 'must be given once' }])
}
