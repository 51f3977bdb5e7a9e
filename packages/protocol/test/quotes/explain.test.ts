import { describe, expect, test } from 'vitest'
import { toQuoteRecord } from '../../../../src/auction/records/quote-recorder.js'
import { sampleRound, solverAddress } from '../../../../test/auction/records/sample-round.js'
import { explain } from '../../src/quotes/explain.js'
import type { QuoteRecord } from '../../src/quotes/quote-record.js'
import type { RecordedResult } from '../../src/solvers/solver-result.js'

const solver = solverAddress(1)

function record(changes: Partial<QuoteRecord> = {}): QuoteRecord {
  return { ...toQuoteRecord(sampleRound({})), ...changes }
}

const explainAnswer = (answer: Partial<RecordedResult>, of = record()) =>
  explain({ solver, outcome: 'invalid', ...answer }, of)

test.each<[RecordedResult['reason'], string]>([
  ['malformed', '{"quote"'],
  ['solver_mismatch', `quote.solver must be the registered solver, ${solver}`],
  ['output_chain_mismatch', 'quote.outputChainId must be the destinationChainId of the request, 10.'],
  ['deposit_deadline_mismatch', '1800000000'],
  ['fill_deadline_mismatch', '1800000120'],
  ['fixed_amount_mismatch', 'quote.inputAmount must be the amount of the request, "1"'],
  ['amount_out_of_range', 'decimal strings of 1 to 2^256-1'],
  ['signature_mismatch', `does not recover to ${solver}`],
  ['NonceAlreadyUsed', 'refused the offer with the error NonceAlreadyUsed'],
])('the explanation of %s says what the reply must have', (reason, words) => {
  expect(explainAnswer({ reason })).toContain(words)
})

test('the fixed amount of EXACT_OUTPUT is the output', () => {
  const { request } = record()
  const exactOutput = record({ request: { ...request, orderType: 'EXACT_OUTPUT' } })
  expect(explainAnswer({ reason: 'fixed_amount_mismatch' }, exactOutput)).toContain('quote.outputAmount')
  expect(explainAnswer({ reason: 'order_type_mismatch' }, exactOutput)).toContain('must be 1')
})

const SHOWN_LATER = 'A valid offer; the best amount is shown after the deposit deadline.'
test.each<
  [string, Pick<Partial<RecordedResult>, 'rank' | 'inputAmount' | 'outputAmount'>, string | undefined, string]
>([
  ['that is the best', { rank: 1 }, '9', 'The best offer: it is the one that the caller got first.'],
  ['with less output', { outputAmount: '7' }, '9', '2 of the output token'],
  ['as good as the best', { outputAmount: '9' }, '9', 'As good as the best offer, which came first.'],
  ['as good as the best, before that is shown', { outputAmount: '9' }, undefined, SHOWN_LATER],
])('an offer %s is explained', (_which, offer, bestAmount, words) => {
  const of = { ...record(), bestAmount }
  expect(explain({ solver, outcome: 'quoted', rank: 2, ...offer }, of)).toContain(words)
})

test('an offer for an output is explained by its input', () => {
  const { request } = record()
  const of = { ...record({ request: { ...request, orderType: 'EXACT_OUTPUT' } }), bestAmount: '5000' }
  const offer = { solver, outcome: 'quoted', rank: 2, inputAmount: '7000', outputAmount: '100' } as const
  expect(explain(offer, of)).toContain("2000 of the input token's smallest unit less")
})

test.each<[RecordedResult['reason'], string]>([
  ['endpoint_rejected', 'https URL'],
  ['session_congested', 'was not sent'],
])('the failure %s has an explanation', (reason, words) => {
  expect(explainAnswer({ outcome: 'failed', reason })).toContain(words)
})

describe('a declined request', () => {
  test('is explained with its status', () => {
    const explanation = explainAnswer({ outcome: 'declined', httpStatus: 422 })
    expect(explanation).toBe('The solver answered with status 422; only 200 carries an offer.')
  })

  test.each([500, 502, 504])('with status %i is called an error', (httpStatus) => {
    expect(explainAnswer({ outcome: 'declined', httpStatus })).toContain('an error of the solver')
  })

  test.each([422, 501, 503])('with status %i is not called an error', (httpStatus) => {
    expect(explainAnswer({ outcome: 'declined', httpStatus })).not.toContain('error')
  })
})

test.each<[RecordedResult['declineCode'], string]>([
  ['UNSUPPORTED_PAIR', 'does not trade this pair'],
  ['AMOUNT_TOO_SMALL', 'below the smallest'],
  ['AMOUNT_TOO_LARGE', 'above the largest'],
  ['INSUFFICIENT_LIQUIDITY', 'lacks the output token, or its open quotes put too much of its bond at stake'],
  ['PAUSED', 'paused'],
  ['OTHER', 'without one of the known codes'],
])('a request that was declined on a session with %s is explained in words', (declineCode, words) => {
  const explanation = explainAnswer({ outcome: 'declined', declineCode })
  expect(explanation).toContain(words)
  expect(explanation).not.toContain('status')
})

test.each<[RecordedResult['outcome'], string]>([
  ['late', 'within 2000 ms'],
  ['soft_deadline', 'ended 2000 ms after this request'],
  ['cancelled', 'went away'],
  ['circuit_open', 'circuit breaker'],
])('the outcome %s has an explanation', (outcome, words) => {
  expect(explainAnswer({ outcome, durationMs: 2000 })).toContain(words)
})
