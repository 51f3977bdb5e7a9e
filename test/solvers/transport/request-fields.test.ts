import { create, type DescMessage, type MessageShape } from '@bufbuild/protobuf'
import { reflect } from '@bufbuild/protobuf/reflect'
import { expect, it } from 'vitest'
import { GetQuoteRecordResponseSchema, QuoteParametersSchema } from '../../../gen/aggregator/v1/quote_pb.js'
import { SessionQuoteRequestSchema } from '../../../gen/aggregator/v1/session_pb.js'
import { readParameters } from '../../../packages/client/src/quotes/get-quote-record.js'
import type { QuoteRequest } from '../../../packages/protocol/src/quotes/quote.js'
import { toQuoteRequest, toRequestBody } from '../../../packages/protocol/src/signing/quote-request.js'
import { readRequest } from '../../../packages/solver/src/session/wire-forms.js'
import { toQuoteRecord } from '../../../src/auction/records/quote-recorder.js'
import { compileJsonWriter } from '../../../src/http/rest/proto-json.js'
import { toQuoteRecordMessage } from '../../../src/rpc/convert/convert-records.js'
import { toSessionMessage } from '../../../src/rpc/convert/convert-sessions.js'
import { exactInput } from '../../support/solvers/sample-quotes.js'

/** What sessions have beside the fields that endpoints get too. */
const OF_SESSIONS = ['id', 'deadline', 'kind']

const body = toRequestBody(exactInput)
/** The fields of a message that have a value other than the default of their type. */
function setFieldsOf<Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc>): string[] {
  const reflected = reflect(schema, message)
  return reflected.fields.filter((field) => reflected.isSet(field)).map(({ jsonName }) => jsonName)
}
const { kind: _, ...terms } = exactInput

it('each field of a request to solvers is sent to endpoints', () => {
  const { user, ...rest } = terms
  expect(Object.keys(body).sort()).toEqual([...Object.keys(rest), 'userAddress'].sort())
  expect(toQuoteRequest(body, 'FIRM')).toEqual(exactInput)
})

it('each field that endpoints get is sent by sessions over gRPC', () => {
  const solverRequest = { request: exactInput, body: new Uint8Array(), deadline: 1 }
  const { message } = toSessionMessage({ type: 'quoteRequest', id: 'a', solverRequest })
  if (message.case !== 'quoteRequest') expect.unreachable()
  const sent = setFieldsOf(SessionQuoteRequestSchema, message.value)
  expect(sent.filter((name) => !OF_SESSIONS.includes(name)).sort()).toEqual(Object.keys(body).sort())
})

it('each field that endpoints get is read by the kit', () => {
  const ofSessions = { kind: exactInput.kind, deadline: 1, id: 'a' }
  expect(readRequest({ ...body, ...ofSessions })).toEqual({ ...terms, ...ofSessions, isForAddress: false })
})

it('each field that solvers get is in the record of the quote, and is read by the client', () => {
  const { request } = create(
    GetQuoteRecordResponseSchema,
    toQuoteRecordMessage(recordOf(exactInput), undefined),
  )
  if (request === undefined) expect.unreachable()
  const recorded = setFieldsOf(QuoteParametersSchema, request)
  expect(recorded.sort()).toEqual(
    Object.keys(body)
      .filter((name) => name !== 'chainId')
      .sort(),
  )
  const answer = compileJsonWriter(QuoteParametersSchema)(request)
  expect(Object.keys(readParameters(answer)).sort()).toEqual(recorded)
})

function recordOf(request: QuoteRequest) {
  return {
    ...toQuoteRecord({
      quoteId: 'a',
      request,
      requestedAt: 1,
      durationMs: 1,
      waitedMs: 0,
      pair: '',
      outcome: 'no_quotes',
      attempts: [],
      checked: [],
    }),
    bestAmount: undefined,
  }
}
