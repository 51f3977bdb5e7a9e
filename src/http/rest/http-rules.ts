import { type DescField, type DescMessage, type DescMethod, getOption, hasOption } from '@bufbuild/protobuf'
import { http } from '../../../gen/google/api/annotations_pb.js'
import type { HttpRule } from '../../../gen/google/api/http_pb.js'

/** One REST route, compiled from a method's `google.api.http` option. */
export interface RestRoute {
  readonly verb: 'GET' | 'PUT' | 'POST' | 'DELETE' | 'PATCH'
  /** The path with a `:parameter` for each variable, which has the field's JSON name. */
  readonly url: string
  /** The fields that the path's variables fill. */
  readonly pathFields: readonly DescField[]
  /** Whether all other fields come from the JSON body; from the query otherwise. */
  readonly hasBody: boolean
  /** The field that is the whole response body; undefined for the message itself. */
  readonly responseField: DescField | undefined
}

/**
 * Compiles the REST routes of a method, with its additional bindings.
 * @throws when an option has a form that this compiler does not know, so that the start fails and not a request
 */
export function compileRoutes(method: DescMethod): RestRoute[] {
  if (!hasOption(method, http)) return []
  const rule = getOption(method, http)
  return [rule, ...rule.additionalBindings].map((binding) => compileRule(method, binding))
}

function compileRule(method: DescMethod, { pattern, body, responseBody }: HttpRule): RestRoute {
  if (pattern.case === undefined || pattern.case === 'custom')
    throw unknown(method, 'a path for a standard verb')
  if (body !== '' && body !== '*') throw unknown(method, 'body "*" or none')
  const pathFields: DescField[] = []
  const segments = pattern.value.split('/').map((segment) => {
    const name = /^\{(\w+)\}$/.exec(segment)?.[1]
    if (name === undefined && /[{}*:]/.test(segment))
      throw unknown(method, 'path variables that fill a segment')
    if (name === undefined) return segment
    const field = fieldOf(method, method.input, name)
    pathFields.push(field)
    return `:${field.jsonName}`
  })
  return {
    verb: pattern.case.toUpperCase() as RestRoute['verb'],
    url: segments.join('/'),
    pathFields,
    hasBody: body === '*',
    responseField: responseBody === '' ? undefined : fieldOf(method, method.output, responseBody),
  }
}

function fieldOf(method: DescMethod, message: DescMessage, name: string): DescField {
  const field = message.fields.find((candidate) => candidate.name === name)
  if (field === undefined) throw new Error(`${method}: ${message.typeName} has no field ${name}`)
  return field
}

function unknown(method: DescMethod, known: string): Error {
  return new Error(`${method}: this service compiles ${known}`)
}
