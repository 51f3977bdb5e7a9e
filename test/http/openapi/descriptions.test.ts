import { expect, test } from 'vitest'
import {
  GetQuoteRequestSchema,
  OrderTypeSchema,
  SolverResultSchema,
} from '../../../gen/aggregator/v1/quote_pb.js'
import { SolverService } from '../../../gen/aggregator/v1/solver_pb.js'
import { comments } from '../../../gen/comments.js'
import { file_google_api_http } from '../../../gen/google/api/http_pb.js'
import { descriptionOf } from '../../../src/http/openapi/descriptions.js'
import { unwrap } from '../../../src/http/openapi/unwrap.js'

test('messages, fields, values, services and methods are described by their comments', () => {
  const { fields, typeName } = GetQuoteRequestSchema
  expect(descriptionOf(GetQuoteRequestSchema)).toBe(comments[typeName])
  for (const field of fields) expect(descriptionOf(field)).not.toBe('')
  for (const value of OrderTypeSchema.values) expect(descriptionOf(value)).not.toBe('')
  expect(descriptionOf(SolverService)).toMatch(/^SolverService keeps/)
  expect(descriptionOf(SolverService.method.listSolvers)).toMatch(/^ListSolvers lists/)
})

test('fields are called as they are in JSON, and what only looks like a field stays', () => {
  expect(descriptionOf(GetQuoteRequestSchema.field.originChainId)).toContain('must equal `chainId`')
  expect(descriptionOf(SolverResultSchema.field.reason)).toContain('`fixed_amount_mismatch`')
})

test('what has no comment is not left undescribed in silence', () => {
  const [message] = file_google_api_http.messages
  expect(() => message && descriptionOf(message)).toThrow('google.api.Http has no comment')
})

test('a paragraph is a line, and so is an item of a list', () => {
  expect(unwrap('\nOne\nparagraph.\n\nAnother\n  one:\n- an item\n  of it\n- more\n')).toBe(
    'One paragraph.\n\nAnother one:\n- an item of it\n- more',
  )
})
