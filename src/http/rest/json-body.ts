import { isUtf8 } from 'node:buffer'
import { type FieldViolation, invalidArgument } from '../../domain/errors.js'

/** A JSON object whose fields are not checked yet. */
export type JsonObject = Readonly<Record<string, unknown>>

/** An error names the bad keys without repeating the whole request. */
const MAX_NAMED_KEYS = 16
const MAX_KEY_LENGTH = 64

/**
 * Reads a request's body. It must be a JSON object in UTF-8. No field may be given twice, as readers differ in which one
 * counts.
 * @throws ServiceError INVALID_ARGUMENT that names `body` or the field
 */
export function parseJsonBody(bytes: Buffer): JsonObject {
  if (!isUtf8(bytes)) throw invalidArgument([{ field: 'body', message: 'must be UTF-8' }])
  const text = bytes.toString()
  const value = parseJsonObject(text)
  assertKeysOnce(text)
  return value
}

/** Reads a JSON object. Of a field that is given twice, the last one counts. @throws ServiceError INVALID_ARGUMENT */
export function parseJsonObject(text: string): JsonObject {
  const value = parse(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidArgument([{ field: 'body', message: 'must be a JSON object' }])
  }
  return value as JsonObject
}

/** @param text of a JSON object @throws ServiceError INVALID_ARGUMENT that names the fields that are given twice */
export function assertKeysOnce(text: string): void {
  const violations = keyViolations(topLevelKeys(text))
  if (violations.length > 0) throw invalidArgument(violations)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalidArgument([{ field: 'body', message: 'must be valid JSON' }])
  }
}

function keyViolations(keys: readonly string[]): FieldViolation[] {
  const seen = new Set<string>()
  const twice = new Set<string>()
  for (const key of keys) {
    if (seen.has(key)) twice.add(key)
    seen.add(key)
  }
  const violations = [...twice]
    .slice(0, MAX_NAMED_KEYS)
    .map((key) => ({ field: key.slice(0, MAX_KEY_LENGTH), message: 'must be given once' }))
  return seen.has('__proto__')
    ? [...violations, { field: '__proto__', message: 'must not be given' }]
    : violations
}

/** Strings, and what separates values. A body has at most 64 KiB, and the pattern goes over it once. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}:]/g

/** The keys of the outermost object in valid JSON text, in their order, with repetitions. */
function topLevelKeys(text: string): string[] {
  const keys: string[] = []
  let depth = 0
  let last = ''
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === '{' || token === '[') depth++
    else if (token === '}' || token === ']') depth--
    else if (token === ':' && depth === 1) keys.push(JSON.parse(last))
    last = token
  }
  return keys
}
