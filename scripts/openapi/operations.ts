import type { DescField, DescMessage, DescMethod } from '@bufbuild/protobuf'
import { compileRoutes, type RestRoute } from '../../src/http/rest/http-rules.js'
import type { JsonSchema } from './constraints.js'
import { descriptionOf } from './descriptions.js'
import { failuresOf } from './error-responses.js'
import type { Sample } from './example.js'
import { type Examples, failureResponse, headersOf, jsonResponse } from './responses.js'
import { fieldDescription, fieldSchema, isRequired, messageSchema, schemaReference } from './schemas.js'

/** Operations of an OpenAPI document by path, then by verb in lower case. */
export type Paths = Record<string, Record<string, object>>

/** The header with a caller's deadline; every method reads it. */
const TIMEOUT_PARAMETER = {
  name: 'Connect-Timeout-Ms',
  in: 'header',
  description:
    "The caller's own deadline in milliseconds. The response to a quote request comes shortly before it, with the offers that came by then.",
  schema: { type: 'integer', minimum: 0, maximum: 9_999_999_999 },
}

/** The REST operations of unary methods, at the paths of their `google.api.http` options. */
export function methodPaths(methods: readonly DescMethod[], samples: readonly Sample[]): Paths {
  const paths: Paths = {}
  for (const method of methods) {
    for (const route of compileRoutes(method)) {
      const path = toPath(route.url)
      const own = samplesOf(`${route.verb} ${path}`, samples)
      paths[path] = { ...paths[path], [route.verb.toLowerCase()]: toOperation(method, route, own) }
    }
  }
  return paths
}

/** The messages of responses. */
export function responseMessages(methods: readonly DescMethod[]): DescMessage[] {
  return methods.flatMap((method) =>
    isStream(method)
      ? streamedMessages(method)
      : compileRoutes(method).map(({ responseField }) => responseField?.message ?? method.output),
  )
}

/** @param operation verb and path */
export function samplesOf(operation: string, samples: readonly Sample[]): Sample[] {
  return samples.filter(({ of }) => of === operation)
}

/** The responses of samples, each named by its reason when it has one. */
export function examplesOf(samples: readonly Sample[], status: number): Examples {
  const matching = samples.filter((sample) => sample.status === status)
  return Object.fromEntries(matching.map(({ reason, body }) => [reason ?? 'sample', { value: body }]))
}

/** A path of the router in the form of OpenAPI: `{name}` for `:name`. */
export function toPath(url: string): string {
  return url.replace(/:(\w+)/g, '{$1}')
}

/** The error responses of a method, by status. */
export function failuresIn(method: DescMethod, hasBody: boolean, samples: readonly Sample[]): object {
  const failures = failuresOf(method, hasBody)
  return Object.fromEntries(
    failures.map((failure) => [
      failure.status,
      failureResponse(failure, examplesOf(samples, failure.status)),
    ]),
  )
}

function isStream({ methodKind }: DescMethod): boolean {
  return methodKind === 'server_streaming'
}

/** The messages of server-sent events: their name is that of the field. A heartbeat is a comment there. */
function streamedMessages({ output }: DescMethod): DescMessage[] {
  return output.fields.flatMap(({ localName, message }) => (localName === 'heartbeat' ? [] : (message ?? [])))
}

function toOperation(method: DescMethod, route: RestRoute, samples: readonly Sample[]): object {
  const success = samples.find(({ status }) => status === 200)
  return {
    // The page at /docs cannot try a stream: Swagger UI would wait for its end.
    ...(isStream(method) ? { 'x-stream': true } : {}),
    operationId: method.localName,
    summary: method.name,
    description: descriptionOf(method),
    tags: [method.parent.name],
    parameters: [...parametersOf(method, route, success), TIMEOUT_PARAMETER],
    ...(route.hasBody ? { requestBody: requestBodyOf(method, route, success) } : {}),
    responses: {
      200: isStream(method) ? streamResponse(method, samples) : successResponse(method, route, samples),
      ...failuresIn(method, route.hasBody, samples),
    },
  }
}

function parametersOf({ input }: DescMethod, route: RestRoute, sample: Sample | undefined): object[] {
  const inPath = route.pathFields.map((field) => ({
    ...parameterOf(field, 'path', true),
    example: sample?.path?.[field.jsonName],
  }))
  if (route.hasBody) return inPath
  const others = input.fields.filter((field) => !route.pathFields.includes(field))
  return [...inPath, ...others.map((field) => parameterOf(field, 'query', isRequired(field)))]
}

/** A field of a request that stands in its URL. */
export function parameterOf(field: DescField, place: 'path' | 'query', required?: boolean): object {
  const description = fieldDescription(field)
  return { name: field.jsonName, in: place, required, description, schema: fieldSchema(field) }
}

function requestBodyOf({ input }: DescMethod, { pathFields }: RestRoute, sample: Sample | undefined): object {
  const schema = messageSchema(
    input,
    input.fields.filter((field) => !pathFields.includes(field)),
  )
  return { required: true, content: { 'application/json': { schema, example: sample?.requestBody } } }
}

function streamResponse({ output }: DescMethod, samples: readonly Sample[]): object {
  const events = output.fields
    .filter(({ localName }) => localName !== 'heartbeat')
    .map((field) => `- \`${field.localName}\`: ${field.message?.name}. ${descriptionOf(field)}`)
  return {
    description: `Server-sent events, each with one JSON object as \`data\`:\n\n${events.join('\n')}\n- \`error\`: the body of an error. The stream has failed.`,
    headers: headersOf({ isLimited: true }),
    content: { 'text/event-stream': { schema: { type: 'string' }, examples: examplesOf(samples, 200) } },
  }
}

function successResponse({ output }: DescMethod, { responseField }: RestRoute, samples: readonly Sample[]) {
  const schema: JsonSchema =
    responseField === undefined ? schemaReference(output) : fieldSchema(responseField)
  const description = descriptionOf(responseField ?? output)
  return jsonResponse(description, schema, examplesOf(samples, 200), headersOf({ isLimited: true }))
}
