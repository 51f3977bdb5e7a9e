import { expect, test } from 'vitest'
import { toQuoteRecord } from '../../../src/auction/records/quote-record-writer.js'
import { sampleRound, signed, solverAddress } from './sample-round.js'

test('a record has the offers by rank, and the solvers for which the quote did not wait at the end', () => {
  const [late, worse, best] = [signed(3, 10n), signed(1, 20n), signed(2, 30n)]
  const record = toQuoteRecord(
    sampleRound({
      attempts: [
        { solver: solverAddress(2), result: { kind: 'quoted', offer: best }, tookMs: 2 },
        { solver: solverAddress(1), result: { kind: 'quoted', offer: worse }, tookMs: 1.6 },
        { solver: solverAddress(3), result: { kind: 'quoted', offer: late }, tookMs: 3 },
        { solver: solverAddress(4), result: { kind: 'late' }, tookMs: 2000.4 },
      ],
      probed: [solverAddress(5)],
    }),
  )
  expect(record.solvers.map(({ solver, rank, durationMs }) => [solver, rank, durationMs])).toEqual([
    [solverAddress(2), 1, 2],
    [solverAddress(1), 2, 2],
    [solverAddress(3), 3, 3],
    [solverAddress(4), undefined, 2000],
    [solverAddress(5), undefined, undefined],
  ])
  expect(record.solvers.at(-1)?.outcome).toBe('circuit_open')
})

test('an offer that the settlement contract accepted has a mark', () => {
  const offer = { ...signed(1, 10n), verified: true } as const
  const attempts = [{ solver: solverAddress(1), result: { kind: 'quoted', offer } as const, tookMs: 1 }]
  expect(toQuoteRecord(sampleRound({ attempts })).solvers).toMatchObject([
    { outcome: 'quoted', rank: 1, verified: true },
  ])
})

test('a record is plain JSON, with the amounts of the replies', () => {
  const amounts = { inputAmount: '0x1', outputAmount: undefined }
  const record = toQuoteRecord(
    sampleRound({
      attempts: [
        { solver: solverAddress(1), result: { kind: 'invalid', reason: 'malformed', amounts }, tookMs: 1 },
        { solver: solverAddress(2), result: { kind: 'declined', status: 422 }, tookMs: 1 },
        {
          solver: solverAddress(3),
          result: { kind: 'failed', reason: 'unreachable', message: 'connect ETIMEDOUT 10.0.0.1:80' },
          tookMs: 1,
        },
        { solver: solverAddress(4), result: { kind: 'declined', code: 'PAUSED' }, tookMs: 1 },
      ],
    }),
  )
  const parsed = JSON.parse(JSON.stringify(record))
  expect(parsed).toEqual(record)
  expect(parsed.request.amount).toBe('1')
  expect(parsed.solvers).toEqual([
    { solver: solverAddress(1), outcome: 'invalid', durationMs: 1, reason: 'malformed', inputAmount: '0x1' },
    { solver: solverAddress(2), outcome: 'declined', durationMs: 1, httpStatus: 422 },
    { solver: solverAddress(3), outcome: 'failed', durationMs: 1, reason: 'unreachable' },
    { solver: solverAddress(4), outcome: 'declined', durationMs: 1, declineCode: 'PAUSED' },
  ])
  expect(JSON.stringify(record)).not.toContain('10.0.0.1')
})
