import type { QuoteRequest } from '../../../../protocol/src/quotes/quote.js'
import type { Expectation } from '../judge.js'
import { type CertifyCase, randomAddress } from '../trial.js'
import { requestCase } from './request-cases.js'

const PAST_SECONDS = 60
const WINDOW_SECONDS = 300
const FILL_SECONDS = 120
/** The contract's deadlines have 32 bits. */
const DEADLINE_LIMIT = 2 ** 32
const LAST_DEADLINES = {
  depositDeadline: DEADLINE_LIMIT - 1 - FILL_SECONDS,
  fillDeadline: DEADLINE_LIMIT - 1,
}

/**
 * A request that costs the solver a part of its bond if it signs a quote for it.
 * @param write changes the text of the request, for solvers that get one
 */
function mustDecline(
  name: string,
  title: string,
  change: () => Partial<QuoteRequest>,
  because: string,
  write?: (body: string) => string,
): CertifyCase {
  const expectation: Expectation = { objection: 'fail', offerIsOdd: because }
  return requestCase(name, title, () => ({ fields: change(), write }), expectation)
}

/** @param startSeconds when the time to deposit begins, from now */
function windowFrom(startSeconds: number, fillSeconds = FILL_SECONDS) {
  const depositDeadline = Math.floor(Date.now() / 1000) + startSeconds + WINDOW_SECONDS
  return { depositDeadline, fillDeadline: depositDeadline + fillSeconds }
}

const SHORT_REQUEST: Expectation = {
  declineIsOdd:
    'Other instances of the protocol send neither destinationChainId, which then is chainId, nor depositMode, which then is CONTRACT.',
}

/** Removes what other instances of the protocol do not send. */
function withoutOptionalFields(body: string): string {
  const { destinationChainId: _chain, depositMode: _mode, ...others } = JSON.parse(body)
  return JSON.stringify(others)
}

/**
 * What an endpoint, and a session with a hostile instance, must not sign (docs/decisions.md, D23): certify asks as anyone can. For
 * endpoints and sessions.
 */
export const safetyCases: readonly CertifyCase[] = [
  mustDecline(
    'past-deadlines',
    'deadlines that have passed',
    () => windowFrom(-PAST_SECONDS - WINDOW_SECONDS - FILL_SECONDS),
    'Anyone can send the input to its deposit address, and have you slashed at once. Decline unless the deposit deadline is at least 2 s away.',
  ),
  mustDecline(
    'far-deadlines',
    'deadlines in the year 2106',
    () => LAST_DEADLINES,
    'It is a free option for decades. Decline when the fill deadline is more than an hour away.',
  ),
  mustDecline(
    'overflowing-deadlines',
    'deadlines of more than 32 bits',
    // Over gRPC these fields have 32 bits, and cannot have more.
    () => LAST_DEADLINES,
    'The contract has no such deadlines. Decline what does not fit in 32 bits.',
    (body) => JSON.stringify({ ...JSON.parse(body), ...windowFrom(DEADLINE_LIMIT) }),
  ),
  mustDecline(
    'short-fill',
    'a time to fill of 1 s',
    () => windowFrom(0, 1),
    'You cannot pay in this time after a late deposit, and are slashed. Decline when the fill deadline is less than a minute, or 4 blocks, after the deposit deadline.',
  ),
  mustDecline(
    'indicative-user',
    'an INDICATIVE request for a real user',
    () => ({ kind: 'INDICATIVE', user: randomAddress() }),
    'It is a quote as any other, and this user can deposit with it. Sign INDICATIVE quotes only for 0x000000000000000000000000000000000000dEaD.',
  ),
  requestCase(
    'without-optional-fields',
    'a request without destinationChainId and depositMode',
    { write: withoutOptionalFields },
    SHORT_REQUEST,
  ),
]
