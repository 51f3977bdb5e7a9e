import { create } from '@bufbuild/protobuf'
import { expect, it } from 'vitest'
import {
  GetQuoteRecordResponseSchema,
  OrderType,
  QuoteRoundEndSchema,
  QuoteUpdateSchema,
  SolverOutcome,
} from '../../../gen/aggregator/v1/quote_pb.js'
import { only } from '../../../test/support/only.js'
import {
  addImprovement,
  addRecord,
  endRound,
  type Offer,
  offerOf,
  openRound,
  type Round,
} from '../src/data/auction/auction.js'

const STARTED = 1_000_000

function offer(solver: string, outputAmount: bigint, inputAmount = 1_000n) {
  return {
    quote: { solver, outputAmount: String(outputAmount), inputAmount: String(inputAmount) },
    orderId: `order of ${solver}`,
  }
}
const update = (solver: string, output: bigint, answered: number, input?: bigint) =>
  create(QuoteUpdateSchema, { quoteId: 'q', round: 1, asked: 3, answered, ...offer(solver, output, input) })

const shown = ({ attempts }: Pick<Round, 'attempts'>) =>
  attempts.map(({ solver, rank, atMs, bps }) => [solver, rank, atMs, bps])

it('each improvement is a mark at its time, and the best one is first', () => {
  const first = addImprovement(openRound(1, STARTED, true), update('a', 10_000n, 1), STARTED + 12)
  const second = addImprovement(first, update('b', 10_010n, 2), STARTED + 40)
  expect(shown(second)).toEqual([
    ['b', 1, 40, 0],
    ['a', 2, 12, -9.99],
  ])
  expect([second.asked, second.answered, second.offers]).toEqual([3, 2, undefined])
})

it('the same offer once it is verified is the same mark', () => {
  const first = addImprovement(openRound(1, STARTED, true), update('a', 10_000n, 1), STARTED + 12)
  const verified = { ...update('a', 10_000n, 1), verified: true }
  const second = addImprovement(first, verified, STARTED + 300)
  expect(shown(second)).toEqual([['a', 1, 12, 0]])
  expect(second.attempts[0]?.isVerified).toBe(true)
})

it('an offer that the contract has refused is no mark any more', () => {
  const first = addImprovement(openRound(1, STARTED, true), update('a', 10_000n, 1), STARTED + 12)
  const second = addImprovement(first, update('b', 10_010n, 2), STARTED + 40)
  const third = addImprovement(second, { ...update('a', 10_000n, 3), verified: true }, STARTED + 60)
  expect(shown(third)).toEqual([['a', 1, 12, 0]])
  const cheap = addImprovement(openRound(1, STARTED, false), update('a', 1n, 1, 90n), STARTED)
  const dear = addImprovement(cheap, update('b', 1n, 2, 95n), STARTED + 5)
  expect(shown(dear)).toEqual([['b', 1, 5, 0]])
})

it('the end of a round ranks all offers, also those that were never the best', () => {
  const running = addImprovement(openRound(1, STARTED, true), update('b', 10_010n, 1), STARTED + 5)
  const end = create(QuoteRoundEndSchema, {
    quoteId: 'q',
    bestOrderId: 'order of b',
    alternativeQuotes: [offer('a', 10_000n)],
    asked: 3,
    quoted: 2,
    late: 1,
  })
  const ended = endRound(running, end)
  expect(shown(ended)).toEqual([
    ['b', 1, 5, 0],
    ['a', 2, undefined, -9.99],
  ])
  expect([ended.offers, ended.answered, ended.best?.orderId]).toEqual([2, 3, 'order of b'])
  expect(ended.takeable.map(({ orderId }) => orderId)).toEqual(['order of b', 'order of a'])
})

it('a round without an offer has no best one', () => {
  const end = create(QuoteRoundEndSchema, { quoteId: 'q', asked: 3, declined: 3 })
  const ended = endRound(openRound(2, STARTED, true), end)
  expect([ended.offers, ended.best, ended.attempts]).toEqual([0, undefined, []])
})

it('solvers compete on the input when the output is exact', () => {
  const first = addImprovement(openRound(1, STARTED, false), update('a', 1n, 1, 1_000n), STARTED)
  expect(
    shown(addImprovement(first, update('b', 1n, 2, 990n), STARTED + 9)).map(([solver]) => solver),
  ).toEqual(['b', 'a'])
})

it('the record brings all results with their times, and what the best offer gained', () => {
  const record = create(GetQuoteRecordResponseSchema, {
    quoteId: 'q',
    request: { orderType: OrderType.EXACT_INPUT },
    solvers: [
      {
        solver: 'b',
        outcome: SolverOutcome.QUOTED,
        rank: 1,
        durationMs: 14,
        outputAmount: '10000',
        inputAmount: '5',
      },
      {
        solver: 'a',
        outcome: SolverOutcome.QUOTED,
        rank: 2,
        durationMs: 3,
        outputAmount: '9990',
        inputAmount: '5',
      },
      { solver: 'c', outcome: SolverOutcome.INVALID, durationMs: 2, outputAmount: '<b>', explanation: 'why' },
      { solver: 'd', outcome: SolverOutcome.LATE },
    ],
  })
  const round = addRecord(openRound(1, STARTED, true), record)
  expect(shown(round)).toEqual([
    ['b', 1, 14, 0],
    ['a', 2, 3, -10],
    ['c', undefined, 2, undefined],
    ['d', undefined, undefined, undefined],
  ])
})

it.each([
  ['a', 'order of a'],
  ['c', 'order of b'],
  ['', 'order of b'],
])('of the offers, that of solver "%s" is %s', (solver, orderId) => {
  const offers = [offer('b', 10_010n), offer('a', 10_000n)].map((one) => only<Offer>(one))
  expect(offerOf(offers, solver)?.orderId).toBe(orderId)
})

it('without offers, there is none to take', () => {
  expect(offerOf(undefined, 'a')).toBeUndefined()
})
