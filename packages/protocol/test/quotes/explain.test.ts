import { describe, expect, test } from 'vitest'
import { toQuoteRecord } from '../../../../src/auction/records/quote-record-writer.js'
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
  ['user_mismatch', solverAddress(0xc)],
  ['input_token_mismatch', solverAddress(0xa)],
  ['output_token_mismatch', solverAddress(0xb)],
  ['order_type_mismatch', 'quote.orderType must be 0'],
  ['output_chain_mismatch', 'quote.outputChainId must be the destinationChainId of the request, 10.'],
  ['deposit_deadline_mismatch', '1800000000'],
  ['fill_deadline_mismatch', '1800000120'],
  ['fixed_amount_mismatch', 'quote.inputAmount must be the amount of the request, "1"'],
  ['amount_out_of_range', 'decimal strings of 1 to 2^256-1'],
  ['nonce_out_of_range', 'quote.nonce'],
  ['signature_length', '65 bytes'],
  ['signature_v', '27 or 28'],
  ['signature_high_s', 'EIP-2'],
  ['bond_too_small', 'BOND_RESERVATION_BPS()'],
  ['below_minimum_order', 'MIN_ORDER()'],
  ['nonce_used', 'a nonce that is not used'],
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

test.each<[RecordedResult['reason'], string]>([
  ['endpoint_rejected', 'https URL'],
  ['name_not_resolved', 'does not resolve'],
  ['connection_refused', 'Nothing listens'],
  ['unreachable', 'No connection'],
  ['tls_failed', 'certificate'],
  ['not_http', 'no valid HTTP'],
  ['reply_too_long', '64 KiB'],
  ['connection_lost', 'ended before the reply'],
  ['session_ended', 'Connect again'],
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
  ['soft_deadline', 'after 2000 ms, at the soft deadline'],
  ['cancelled', 'went away'],
  ['circuit_open', 'circuit breaker'],
])('the outcome %s has an explanation', (outcome, words) => {
  expect(explainAnswer({ outcome, durationMs: 2000 })).toContain(words)
})
