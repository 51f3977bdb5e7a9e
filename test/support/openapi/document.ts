import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

// biome-ignore lint/suspicious/noExplicitAny: tests read a document at many places
export type Document = any

/** A document of `gen/`, which the service serves. */
export function generatedDocument(name: 'openapi.json' | 'asyncapi.json'): Document {
  return JSON.parse(readFileSync(new URL(`../../../gen/${name}`, import.meta.url), 'utf8'))
}

/** The operations of an OpenAPI document, each with its id, its name such as `GET /v1/{chainId}/solvers`, and its place. */
export function operationsOf(openApi: Document) {
  return Object.entries<Document>(openApi.paths).flatMap(([path, verbs]) =>
    Object.entries<Document>(verbs).map(([verb, operation]) => ({
      id: operation.operationId as string,
      of: `${verb.toUpperCase()} ${path}`,
      place: ['paths', path, verb],
      operation,
    })),
  )
}

/** Values for the names in a path. */
export type PathValues = Readonly<Record<string, string | number>>

/** The path of an operation's name with these values. */
export function urlOf(of: string, path: PathValues): string {
  const [, template = ''] = of.split(' ')
  return template.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(path[name] ?? ''))
}

/** A document with compiled schemas. */
export interface ReadDocument {
  /** @returns the errors of a value by the schema at this place, such as `['paths', '/health']`; empty when it is valid */
  problems(place: readonly (string | number)[], value: unknown): string[]
}

/**
 * Reads a document strictly: a property that a schema does not name is an error, although clients must ignore it.
 */
export function readDocument(document: object): ReadDocument {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema(closed(document) as object, 'document')
  const validators = new Map<string, ValidateFunction>()

  function validatorAt(place: readonly (string | number)[]): ValidateFunction {
    const pointer = `/${place.map(toPointer).join('/')}`
    const validator = validators.get(pointer) ?? ajv.getSchema(`document#${pointer}`)
    if (validator === undefined) throw new Error(`the document has nothing at ${pointer}`)
    validators.set(pointer, validator)
    return validator
  }

  return {
    problems(place, value) {
      const validate = validatorAt(place)
      if (validate(value)) return []
      return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
    },
  }
}

/** A document, in which no object has members that it does not name. */
export function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed)
  if (typeof value !== 'object' || value === null) return value
  const copy = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, closed(item)]))
  return copy.type === 'object' && 'properties' in copy ? { additionalProperties: false, ...copy } : copy
}

function toPointer(segment: string | number): string {
  return encodeURIComponent(String(segment).replaceAll('~', '~0').replaceAll('/', '~1'))
}
