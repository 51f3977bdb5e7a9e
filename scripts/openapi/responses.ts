import type { Reason } from '../../packages/protocol/src/errors.js'
import { MAX_BODY_KIB } from '../../packages/protocol/src/field-rules.js'
import type { JsonSchema } from './constraints.js'
import { EXPLANATIONS, type Failure } from './error-responses.js'

/** Examples of a response by name. */
export type Examples = Readonly<Record<string, { readonly value: unknown }>>

const header = (name: keyof typeof HEADERS) => ({ $ref: `#/components/headers/${name}` })
const REQUEST_ID = { 'x-request-id': header('RequestId') }
const LIMITS = {
  'RateLimit-Limit': header('RateLimitLimit'),
  'RateLimit-Remaining': header('RateLimitRemaining'),
  'RateLimit-Reset': header('RateLimitReset'),
}
const RETRY_AFTER = { 'Retry-After': header('RetryAfter') }
const BUSY_RETRY_AFTER = { 'Retry-After': header('BusyRetryAfter') }

/** The headers that responses refer to. Those of a limit are absent when the instance has turned it off. */
export const HEADERS = {
  RequestId: {
    description: 'Id of the request in the log of the instance.',
    required: true,
    schema: { type: 'string', minLength: 1 },
  },
  RateLimitLimit: {
    description: 'Requests that this client may make in a window; absent when there is no limit.',
    schema: { type: 'integer', minimum: 1 },
  },
  RateLimitRemaining: {
    description: 'Requests that are left in this window.',
    schema: { type: 'integer', minimum: 0 },
  },
  RateLimitReset: {
    description: 'Seconds until the window ends.',
    schema: { type: 'integer', minimum: 0 },
  },
  RetryAfter: {
    description: 'Seconds to wait before you try again.',
    required: true,
    schema: { type: 'integer', minimum: 0 },
  },
  BusyRetryAfter: {
    description: 'With `SOLVERS_BUSY`, seconds to wait before you try again.',
    schema: { type: 'integer', minimum: 1 },
  },
} as const

/** The headers of a success. Those of the limit are there only when requests are counted. */
export function headersOf({ isLimited }: { isLimited: boolean }): object {
  return isLimited ? { ...REQUEST_ID, ...LIMITS } : REQUEST_ID
}

/** A response in JSON. */
export function jsonResponse(description: string, schema: JsonSchema, examples: Examples, headers: object) {
  return { description, headers, content: { 'application/json': { schema, examples } } }
}

/** The response to a request that fails, in the one shape that all errors have (docs/decisions.md, D7). */
export function failureResponse(
  { status, reasons }: Failure,
  examples: Examples,
  { isLimited = true, headers = {} }: { isLimited?: boolean; headers?: object } = {},
) {
  const retryAfter = status === 429 ? RETRY_AFTER : reasons.includes('SOLVERS_BUSY') ? BUSY_RETRY_AFTER : {}
  const allHeaders = { ...headersOf({ isLimited }), ...retryAfter, ...headers }
  return jsonResponse(descriptionOf(status, reasons), errorSchema(reasons), examples, allHeaders)
}

function descriptionOf(status: number, reasons: readonly Reason[]): string {
  if (status === 413) return `\`INVALID_ARGUMENT\`: The body is longer than ${MAX_BODY_KIB} KiB.`
  return reasons.map((reason) => `\`${reason}\`: ${EXPLANATIONS[reason]}`).join('\n\n')
}

/** The schema of an error with one of these reasons. */
export function errorSchema(reasons: readonly Reason[]): JsonSchema {
  return {
    type: 'object',
    required: ['error', 'code'],
    properties: {
      error: { type: 'string', minLength: 1, description: 'A sentence for a person.' },
      code: { enum: reasons, description: 'The reason, one of a closed list.' },
      ...(reasons.includes('INVALID_ARGUMENT') && { details: DETAILS }),
      ...(reasons.includes('NO_QUOTES') && { quoteId: QUOTE_ID, reasons: NO_QUOTE_REASONS }),
    },
  }
}

const DETAILS = {
  type: 'array',
  minItems: 1,
  items: { $ref: '#/components/schemas/FieldViolation' },
  description: 'For `INVALID_ARGUMENT`, every bad field.',
}
const QUOTE_ID = {
  type: 'string',
  format: 'uuid',
  description: "Id of the quote's record; absent when no solver was asked.",
}
const COUNT = { type: 'integer', minimum: 0 }
const NO_QUOTE_REASONS = {
  type: 'object',
  required: ['asked', 'declined', 'invalid', 'failed', 'late', 'notAsked'],
  properties: {
    asked: COUNT,
    declined: COUNT,
    invalid: COUNT,
    failed: COUNT,
    late: { ...COUNT, description: 'Without a reply in time.' },
    notAsked: { ...COUNT, description: 'Could have been asked, and were not.' },
  },
  description: 'For `NO_QUOTES`, how many solvers there were for each reason.',
}

/** The schema of an item of `details`. */
export const FIELD_VIOLATION: JsonSchema = {
  type: 'object',
  description: 'One bad field of a request.',
  required: ['field', 'message'],
  properties: {
    field: { type: 'string', description: "The field's name, or `body` for the whole body." },
    message: { type: 'string', minLength: 1, description: 'What the field must be.' },
  },
}
