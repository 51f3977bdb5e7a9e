import { expect, test } from 'vitest'
import { toQuoteRecord } from '../../../src/auction/records/quote-recorder.js'
import { attemptOf, sampleRound, signed, solverAddress } from './sample-round.js'

test('a record has the offers by rank, then the solvers without one, each with its index', () => {
  const [late, worse] = [signed(3, 10n), signed(1, 20n)]
  const best = { ...signed(2, 30n), verified: true } as const
  const record = toQuoteRecord(
    sampleRound({
      attempts: [
        attemptOf(2, { kind: 'quoted', offer: best }, 2),
        attemptOf(1, { kind: 'quoted', offer: worse }, 1.6),
        attemptOf(3, { kind: 'quoted', offer: late }, 3),
        attemptOf(5, { kind: 'circuit_open' }, 1),
        attemptOf(4, { kind: 'late' }, 2000.4),
      ],
    }),
  )
  expect(
    record.solvers.map(({ index, rank, durationMs, outcome }) => [index, rank, durationMs, outcome]),
  ).toEqual([
    [1, 1, 2, 'quoted'],
    [0, 2, 2, 'quoted'],
    [2, 3, 3, 'quoted'],
    [4, undefined, 1, 'circuit_open'],
    [3, undefined, 2000, 'late'],
  ])
  expect(record.solvers.map(({ verified }) => verified)).toEqual([true, ...Array(4).fill(undefined)])
})

test('a record is plain JSON, with the amounts of the replies', () => {
  const amounts = { inputAmount: '0x1', outputAmount: undefined }
  const record = toQuoteRecord(
    sampleRound({
      attempts: [
        attemptOf(1, { kind: 'invalid', reason: 'malformed', amounts }),
        attemptOf(2, { kind: 'declined', status: 422 }),
        attemptOf(3, { kind: 'failed', reason: 'unreachable', message: 'connect ETIMEDOUT 10.0.0.1:80' }),
        attemptOf(4, { kind: 'declined', code: 'PAUSED' }),
      ],
    }),
  )
  const parsed = JSON.parse(JSON.stringify(record))
  expect(parsed).toEqual(record)
  expect(parsed.request.amount).toBe('1')
  expect(parsed.solvers).toEqual([
    {
      solver: solverAddress(1),
      index: 0,
      outcome: 'invalid',
      durationMs: 1,
      reason: 'malformed',
      inputAmount: '0x1',
    },
    { solver: solverAddress(2), index: 1, outcome: 'declined', durationMs: 1, httpStatus: 422 },
    { solver: solverAddress(3), index: 2, outcome: 'failed', durationMs: 1, reason: 'unreachable' },
    { solver: solverAddress(4), index: 3, outcome: 'declined', durationMs: 1, declineCode: 'PAUSED' },
  ])
  expect(JSON.stringify(record)).not.toContain('10.0.0.1')
})
