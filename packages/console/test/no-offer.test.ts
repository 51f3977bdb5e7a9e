import { expect, it } from 'vitest'
import { DeclineCode, SolverOutcome } from '../../../gen/aggregator/v1/quote_pb.js'
import type { Attempt } from '../src/data/auction/auction.js'
import { reasonOf } from '../src/data/auction/auction.js'
import { whyNoOffer } from '../src/data/auction/no-offer.js'

const attempt = (outcome: SolverOutcome, reason = ''): Attempt => ({
  solver: 's',
  outcome,
  reason,
  rank: undefined,
  atMs: 1,
  amount: undefined,
  bps: undefined,
  isVerified: false,
  explanation: '',
})
const why = (...attempts: Attempt[]) =>
  whyNoOffer({ attempts, asked: attempts.length, answered: attempts.length, isRecorded: true }, 3)

it('says of a chain without an active solver that nobody was asked', () => {
  expect(whyNoOffer({ attempts: [], asked: 0, answered: 0, isRecorded: false }, 0)).toBe(
    'No solver is active on this chain.',
  )
})

it('counts why solvers declined, the most frequent reason first', () => {
  const { DECLINED } = SolverOutcome
  expect(
    why(
      attempt(DECLINED, 'pair not supported'),
      attempt(DECLINED, 'amount too small'),
      attempt(DECLINED, 'amount too small'),
    ),
  ).toBe('3 solvers declined: amount too small (2), pair not supported (1).')
})

it('says that no answer came in time, of all solvers or of some', () => {
  expect(why(attempt(SolverOutcome.LATE), attempt(SolverOutcome.CIRCUIT_OPEN))).toBe('No answer in time.')
  expect(why(attempt(SolverOutcome.DECLINED, 'paused'), attempt(SolverOutcome.LATE))).toBe(
    '1 solver declined: paused (1). 1 solver did not answer in time.',
  )
  expect(why(attempt(SolverOutcome.INVALID, 'bond too small'), attempt(SolverOutcome.FAILED))).toBe(
    '1 solver could not be reached. 1 solver made an offer that is not valid: bond too small (1).',
  )
})

it('without a record, it says what the counts of the round show', () => {
  const counts = { attempts: [], isRecorded: false }
  expect(whyNoOffer({ ...counts, asked: 2, answered: 0 }, 2)).toBe('No answer in time.')
  expect(whyNoOffer({ ...counts, asked: 2, answered: 2 }, 2)).toBe('No solver has made an offer.')
})

it('has words for each code of a decline, also for one of a newer instance', () => {
  const of = (declineCode?: DeclineCode) => reasonOf({ outcome: SolverOutcome.DECLINED, declineCode })
  expect(of(DeclineCode.AMOUNT_TOO_SMALL)).toBe('amount too small')
  expect([of(), of(99 as DeclineCode)]).toEqual(['no reason given', 'no reason given'])
  expect(reasonOf({ outcome: SolverOutcome.INVALID, reason: 'bond_too_small' })).toBe('bond too small')
  expect(reasonOf({ outcome: SolverOutcome.QUOTED })).toBe('')
})
