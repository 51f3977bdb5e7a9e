import { create, toJson } from '@bufbuild/protobuf'
import { expect, test } from 'vitest'
import { GetQuoteRecordResponseSchema } from '../../../gen/aggregator/v1/quote_pb.js'
import { DECLINE_CODES } from '../../../packages/protocol/src/solvers/solver-result.js'
import { toQuoteRecord } from '../../../src/auction/records/quote-recorder.js'
import { viewForCaller } from '../../../src/auction/records/record-view.js'
import { toQuoteRecordMessage } from '../../../src/rpc/convert/convert-records.js'
import { attemptOf, sampleRound } from '../../auction/records/sample-round.js'

test('a record has the code of each request that was declined on a session, and no status', () => {
  const attempts = DECLINE_CODES.map((code, index) => attemptOf(index, { kind: 'declined', code }))
  const stored = JSON.parse(JSON.stringify(toQuoteRecord(sampleRound({ attempts }))))
  const message = create(GetQuoteRecordResponseSchema, toQuoteRecordMessage(viewForCaller(stored), undefined))
  expect(toJson(GetQuoteRecordResponseSchema, message)).toMatchObject({
    solvers: DECLINE_CODES.map((code) => ({
      outcome: 'SOLVER_OUTCOME_DECLINED',
      declineCode: `DECLINE_CODE_${code}`,
      explanation: expect.stringContaining('The solver declined'),
    })),
  })
  expect(message.solvers.every(({ httpStatus }) => httpStatus === undefined)).toBe(true)
})

test('a request that was declined over HTTP has the status and no code', () => {
  const attempts = [attemptOf(1, { kind: 'declined', status: 422 })]
  const stored = JSON.parse(JSON.stringify(toQuoteRecord(sampleRound({ attempts }))))
  const { solvers } = toQuoteRecordMessage(viewForCaller(stored), undefined)
  expect(solvers).toMatchObject([{ httpStatus: 422, declineCode: undefined }])
})
