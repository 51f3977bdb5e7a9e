import type { DescField } from '@bufbuild/protobuf'
import { nearMiss } from '../../config/near-miss.js'
import type { FieldViolation } from '../../domain/errors.js'
import { replaceUnprintable } from '../../domain/values/text.js'
import type { JsonObject } from './json-body.js'

/** An error names the unknown parameters without repeating the whole query. */
const MAX_NAMED = 16
const MAX_NAME_LENGTH = 64

/**
 * Builds the check of a query whose parameters are the fields of a request. A filter with a misspelt name would let
 * everything through, so a parameter that is not a field is an error.
 * @returns a function that returns one violation for each unknown parameter of a query, at most 16
 */
export function createQueryCheck(fields: readonly DescField[]): (query: JsonObject) => FieldViolation[] {
  const names = fields.map((field) => field.jsonName)
  const accepted = new Set([...names, ...fields.map((field) => field.name)])
  return (query) => {
    const unknown = Object.keys(query).filter((name) => !accepted.has(name))
    return unknown.slice(0, MAX_NAMED).map((name) => {
      const field = replaceUnprintable(name.slice(0, MAX_NAME_LENGTH))
      const meant = nearMiss(field, names, lettersOff)
      const hint = meant === undefined ? `use ${names.join(', ')}` : `did you mean ${meant}?`
      return { field, message: `is not a parameter of this path: ${hint}` }
    })
  }
}

function lettersOff(name: string): number {
  return name.length < 5 ? 1 : 2
}
