import {
  DeclineCode,
  type GetQuoteRecordResponse,
  OrderType,
  type QuoteRoundEnd,
  type QuoteUpdate,
  SolverOutcome,
  type SolverResult,
} from '../../../../../gen/aggregator/v1/quote_pb.js'
import { advantage } from '../../../../protocol/src/quotes/offer.js'
import { differenceBps } from '../../format/amount.js'

/** An offer that a user can take, as streams and answers carry it. */
export type Offer = Pick<QuoteUpdate, 'quote' | 'solverSignature' | 'depositAddress' | 'orderId' | 'verified'>

/** What one solver did in a round. */
export interface Attempt {
  readonly solver: string
  readonly outcome: SolverOutcome
  /** 1 for the best offer; undefined without a valid offer. */
  readonly rank?: number | undefined
  /** Time from the request to the result; undefined when it is not known, or none came. */
  readonly atMs: number | undefined
  /** On the side that solvers compete on; undefined without a valid offer. */
  readonly amount: bigint | undefined
  /** Difference from the best offer, at most 0; undefined without a valid offer. */
  readonly bps?: number | undefined
  /** Whether the contract accepted it. */
  readonly isVerified: boolean
  /** Why there is no offer, in a few words; empty with one, and while the record is not there. */
  readonly reason: string
  /** The same for the solver's developer. */
  readonly explanation: string
}

/** One round of an auction, from its first improvement to the record of all results. */
export interface Round {
  readonly quoteId: string
  /** 1 for the first round of a stream. */
  readonly number: number
  /** Unix time in milliseconds. */
  readonly startedAt: number
  /** Whether solvers compete on the output; on the input otherwise. */
  readonly isOutput: boolean
  /** The improvements while it runs; then all results, in the order of the ranking. */
  readonly attempts: readonly Attempt[]
  readonly asked: number
  readonly answered: number
  /** Number of valid offers; undefined while the round runs. */
  readonly offers?: number | undefined
  readonly best?: Offer | undefined
  /** What a user can take: the best offer while the round runs, then all in the order of the ranking. */
  readonly takeable: readonly Offer[]
  /** Whether the attempts come from the record of the quote, with all times. */
  readonly isRecorded: boolean
}

/** A round of which nothing is known yet. */
export function openRound(number: number, startedAt: number, isOutput: boolean): Round {
  return {
    quoteId: '',
    number,
    startedAt,
    isOutput,
    attempts: [],
    asked: 0,
    answered: 0,
    takeable: [],
    isRecorded: false,
  }
}

/** Adds an improvement. Its time is that of its arrival here. @param at Unix time in milliseconds */
export function addImprovement(round: Round, update: QuoteUpdate, at: number): Round {
  const { quoteId, asked, answered } = update
  const attempt = attemptOf(update, round.isOutput, Math.max(0, at - round.startedAt))
  // An improvement that is worse than the one before it comes when the contract has refused the better offers.
  const others = round.attempts.filter(
    ({ solver, amount }) =>
      solver !== attempt.solver && advantage(round.isOutput, amount ?? 0n, attempt.amount ?? 0n) <= 0n,
  )
  const earlier = round.attempts.find(({ solver }) => solver === attempt.solver)
  // The same offer comes a second time once it is verified.
  const added = earlier === undefined ? attempt : { ...attempt, atMs: earlier.atMs }
  return {
    ...round,
    quoteId,
    asked,
    answered,
    best: update,
    takeable: [update],
    attempts: ranked([...others, added], round.isOutput),
  }
}

/** Ends a round with its ranking. The record brings what is missing. */
export function endRound(round: Round, end: QuoteRoundEnd): Round {
  const { quoteId, asked, quoted, declined, invalid, failed, late, alternativeQuotes, bestOrderId } = end
  const isBest = round.best?.orderId === bestOrderId
  const best = bestOrderId === undefined ? undefined : round.best
  const times = new Map(round.attempts.map(({ solver, atMs }) => [solver, atMs]))
  const offers = [...(best === undefined || !isBest ? [] : [best]), ...alternativeQuotes]
  const attempts = offers.map((offer) =>
    attemptOf(offer, round.isOutput, times.get(offer.quote?.solver ?? '')),
  )
  return {
    ...round,
    quoteId,
    asked,
    answered: quoted + declined + invalid + failed + late,
    offers: quoted,
    best,
    takeable: offers,
    attempts: ranked(attempts, round.isOutput),
  }
}

/** An offer before it has a rank. */
function attemptOf(offer: Offer, isOutput: boolean, atMs: number | undefined): Attempt {
  return {
    solver: offer.quote?.solver ?? '',
    outcome: SolverOutcome.QUOTED,
    atMs,
    amount: amountOf(offer, isOutput),
    isVerified: offer.verified === true,
    reason: '',
    explanation: '',
  }
}

/** Replaces what was seen of a round with what its record says. */
export function addRecord(round: Round, record: GetQuoteRecordResponse): Round {
  const attempts = readAttempts(record)
  const { length } = attempts
  return {
    ...round,
    asked: round.asked || length,
    answered: round.answered || length,
    attempts,
    isRecorded: true,
  }
}

/** Reads the results of all solvers from a record: valid offers first, in the order of their rank. */
export function readAttempts(record: GetQuoteRecordResponse): Attempt[] {
  const isOutput = isExactInput(record)
  const best = record.solvers.find(({ rank }) => rank === 1)
  const reference = best === undefined ? undefined : resultAmount(best, isOutput)
  return record.solvers.map((result) => {
    const amount = result.outcome === SolverOutcome.QUOTED ? resultAmount(result, isOutput) : undefined
    return {
      solver: result.solver,
      outcome: result.outcome,
      rank: result.rank,
      atMs: result.durationMs,
      amount,
      bps:
        amount === undefined || reference === undefined
          ? undefined
          : differenceBps(amount, reference, isOutput),
      isVerified: result.verified === true,
      reason: reasonOf(result),
      explanation: result.explanation,
    }
  })
}

/** Whether the input of a record's request is fixed, so that solvers compete on the output. */
export function isExactInput({ request }: Pick<GetQuoteRecordResponse, 'request'>): boolean {
  return request?.orderType !== OrderType.EXACT_OUTPUT
}

/** The offer of a solver, or the best one when it has none. @param offers the best one first */
export function offerOf(offers: readonly Offer[] = [], solver: string): Offer | undefined {
  return offers.find(({ quote }) => quote?.solver === solver) ?? offers[0]
}

function ranked(attempts: readonly Attempt[], isOutput: boolean): Attempt[] {
  const sorted = attempts.toSorted((a, b) => Number(advantage(isOutput, b.amount ?? 0n, a.amount ?? 0n)))
  const reference = sorted[0]?.amount ?? 0n
  return sorted.map((attempt, index) => ({
    ...attempt,
    rank: index + 1,
    bps: differenceBps(attempt.amount ?? 0n, reference, isOutput),
  }))
}

function amountOf({ quote }: Pick<Offer, 'quote'>, isOutput: boolean): bigint {
  return BigInt((isOutput ? quote?.outputAmount : quote?.inputAmount) ?? 0)
}

/** An invalid reply has its amounts as the solver wrote them. */
function resultAmount({ inputAmount, outputAmount }: SolverResult, isOutput: boolean): bigint | undefined {
  const text = isOutput ? outputAmount : inputAmount
  return text !== undefined && /^\d+$/.test(text) ? BigInt(text) : undefined
}

const DECLINES: Readonly<Record<DeclineCode, string>> = {
  [DeclineCode.UNSPECIFIED]: 'no reason given',
  [DeclineCode.UNSUPPORTED_PAIR]: 'pair not supported',
  [DeclineCode.AMOUNT_TOO_SMALL]: 'amount too small',
  [DeclineCode.AMOUNT_TOO_LARGE]: 'amount too large',
  [DeclineCode.INSUFFICIENT_LIQUIDITY]: 'not enough liquidity',
  [DeclineCode.BOND_CANNOT_COVER]: 'bond too small for the token',
  [DeclineCode.PAUSED]: 'paused',
  [DeclineCode.OTHER]: 'no reason given',
}

/** Why a solver has made no offer, in a few words: `amount too small`. Empty where the outcome says it. */
export function reasonOf({
  outcome,
  declineCode = DeclineCode.OTHER,
  reason = '',
}: Pick<SolverResult, 'outcome' | 'declineCode' | 'reason'>): string {
  if (outcome === SolverOutcome.DECLINED) return DECLINES[declineCode] ?? 'no reason given'
  return reason.replaceAll('_', ' ')
}
