import { expect, test } from 'vitest'
import {
  GetQuoteRequestSchema,
  OrderTypeSchema,
  SolverResultSchema,
} from '../../../gen/aggregator/v1/quote_pb.js'
import { SolverService } from '../../../gen/aggregator/v1/solver_pb.js'
import { comments } from '../../../gen/comments.js'
import { file_google_api_http } from '../../../gen/google/api/http_pb.js'
import { descriptionOf } from '../../../scripts/openapi/descriptions.js'
import { unwrap } from '../../../scripts/openapi/unwrap.js'

test('comments describe messages, fields, values, services and methods', () => {
  const { fields, typeName } = GetQuoteRequestSchema
  expect(descriptionOf(GetQuoteRequestSchema)).toBe(comments[typeName])
  for (const field of fields) expect(descriptionOf(field)).not.toBe('')
  for (const value of OrderTypeSchema.values) expect(descriptionOf(value)).not.toBe('')
  expect(descriptionOf(SolverService)).toMatch(/^SolverService keeps/)
  expect(descriptionOf(SolverService.method.listSolvers)).toMatch(/^ListSolvers lists/)
})

test('fields have their JSON names, and other words with underscores stay the same', () => {
  expect(descriptionOf(GetQuoteRequestSchema.field.originChainId)).toContain('must equal `chainId`')
  expect(descriptionOf(SolverResultSchema.field.reason)).toContain('`fixed_amount_mismatch`')
})

test('an element without a comment is an error', () => {
  const [message] = file_google_api_http.messages
  expect(() => message && descriptionOf(message)).toThrow('google.api.Http has no comment')
})

test('each paragraph and each item of a list becomes one line', () => {
  expect(unwrap('\nOne\nparagraph.\n\nAnother\n  one:\n- an item\n  of it\n- more\n')).toBe(
    'One paragraph.\n\nAnother one:\n- an item of it\n- more',
  )
})
