import { BaseError, ChainMismatchError } from 'viem'
import { foundry } from 'viem/chains'
import { expect, it } from 'vitest'
import { REASONS } from '../../protocol/src/errors.js'
import {
  AggregatorError,
  ChainReadError,
  DepositError,
  explainForUser,
  QuoteVerificationError,
} from '../src/index.js'

const AGAIN = 'look at your swap before you try again'
const OTHER = `Something went wrong. If you have already sent your tokens, ${AGAIN}: it may still go through.`

/** Of registrations, sessions and signed lists. */
const FOR_SOLVERS = /^(SOLVER_(?!S)|SIGNATURE|TIMESTAMP|BOND|ENDPOINT|SESSION|CHALLENGE|AUDIENCE)/
const FOR_USERS = Object.keys(REASONS).filter((reason) => !FOR_SOLVERS.test(reason))

it.each([...FOR_USERS, 'CONNECTION_FAILED', 'TIMED_OUT', 'CANCELLED', 'ANSWER_INVALID'])(
  '%s has plain sentences for a user, the same as its error has',
  (reason) => {
    const sentence = explainForUser(reason)
    expect(sentence).toMatch(/^[A-Z][^_`{}]+\.$/)
    expect(sentence).not.toBe(OTHER)
    expect(explainForUser(new AggregatorError(reason, 'For developers.'))).toBe(sentence)
  },
)

const EXPIRED = 'This offer has expired. Please ask for a new one.'
const TOO_LARGE = /too large .*Please enter a smaller one/
// A token, or an account, in the place of the settlement contract.
const NO_CONTRACT = /^This network has no such contract at this address\. Please check the address/
const OTHER_NETWORK = 'Your wallet is on another network. Please switch it.'
const mismatch = new ChainMismatchError({ chain: foundry, currentChainId: 1 })

it.each<[what: string, problem: Error | string, sentence: string | RegExp]>([
  [
    'the first problem of an offer',
    new QuoteVerificationError(['deposit_deadline_passed', 'nonce_used']),
    EXPIRED,
  ],
  ['a problem by its name', 'deposit_deadline_passed', EXPIRED],
  [
    'a used nonce, which the user may have used',
    new QuoteVerificationError(['nonce_used']),
    new RegExp(AGAIN),
  ],
  ['a node that fails', new ChainReadError('failed', 'fetch failed'), /^The network cannot be read/],
  ['no contract', new ChainReadError('absent', 'none'), NO_CONTRACT],
  ['no code', new ChainReadError('no code', 'none'), NO_CONTRACT],
  ['an approval', new DepositError('APPROVAL_UNCERTAIN'), /None of your tokens were sent/],
  [
    'a newer reason that may pass',
    new AggregatorError('MOON', 'No.', { httpStatus: 503 }),
    explainForUser('INTERNAL'),
  ],
  ['a signal of time', new DOMException('The time is over.', 'TimeoutError'), new RegExp(AGAIN)],
  ['a signal', new DOMException('The page is closed.', 'AbortError'), new RegExp(AGAIN)],
  ['a wallet on another network', mismatch, OTHER_NETWORK],
  ['an error with it inside', new BaseError('Not sent.', { cause: mismatch }), OTHER_NETWORK],
  ['a small amount', 'AMOUNT_TOO_SMALL', /too small .*Please enter a larger one/],
  ['a large amount', 'AMOUNT_TOO_LARGE', TOO_LARGE],
  ['too little liquidity', 'INSUFFICIENT_LIQUIDITY', TOO_LARGE],
  ['too small a bond', 'BOND_CANNOT_COVER', TOO_LARGE],
  ['an unknown pair', 'UNSUPPORTED_PAIR', /Please choose another token/],
])('a user is told of %s', (_what, problem, sentence) => {
  const expected = typeof sentence === 'string' ? sentence : expect.stringMatching(sentence)
  expect(explainForUser(problem)).toEqual(expected)
})

it.each(['REVERTED', 'REPLACED', 'EXPIRED', 'UNCERTAIN'] as const)(
  'a deposit that is not there: %s',
  (reason) => {
    const sentence = explainForUser(reason)
    expect(sentence).toMatch(/^[A-Z][^_`{}]+\.$/)
    expect(explainForUser(new DepositError(reason))).toBe(sentence)
  },
)

it.each([
  new Error('of a wallet'),
  'toString',
  '',
  new AggregatorError('MOON_ECLIPSED', 'No.', { httpStatus: 400 }),
  // A `catch` may pass anything.
  undefined,
  null,
  5,
])('anything else gets a general sentence: %s', (problem) => {
  expect(explainForUser(problem as Error)).toBe(OTHER)
})

it.each([
  'EXPIRED',
  'REVERTED',
  'REPLACED',
  'UNCERTAIN',
  'DECLINED',
  'APPROVAL_TOO_LOW',
  'nonce_used',
  'other',
])('the code %s of an instance, or its words, say nothing of the tokens of a user', (code) => {
  const error = new AggregatorError(code, 'User rejected the request.', { httpStatus: 400 })
  expect(explainForUser(error)).toBe(OTHER)
  expect(explainForUser(Object.assign(new Error('of a wallet'), { reason: code }))).toBe(OTHER)
})

it.each(['EXPIRED', 'TOO_LATE_FOR_TRANSFER'] as const)('%s does not say that nothing was sent', (reason) => {
  const sentence = explainForUser(new DepositError(reason))
  expect(sentence).not.toMatch(/nothing was sent/)
  expect(sentence).toContain(AGAIN)
})

it.each([
  [new Error('before a prompt'), 'Something went wrong.'],
  [new DepositError('EXPIRED'), 'This offer has expired. Please ask for a new one.'],
  [new AggregatorError('TIMED_OUT', 'No.'), 'There was no answer in time.'],
])('where the wallet was not asked, nothing is said of tokens that were sent: %s', (error, sentence) => {
  expect(explainForUser(error, { wasAsked: false })).toBe(sentence)
  expect(explainForUser(error)).toContain(AGAIN)
})
