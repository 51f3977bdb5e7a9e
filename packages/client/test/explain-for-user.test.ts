import { BaseError, ChainMismatchError } from 'viem'
import { foundry } from 'viem/chains'
import { expect, it } from 'vitest'
import { REASONS } from '../../protocol/src/errors.js'
import {
  AggregatorError,
  ChainReadError,
  DepositError,
  explainForUser,
  type QuoteProblem,
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

it('the first problem of an offer is explained', () => {
  const problems: QuoteProblem[] = ['deposit_deadline_passed', 'nonce_used']
  const sentence = 'This offer has expired. Please ask for a new one.'
  expect(explainForUser(new QuoteVerificationError(problems))).toBe(sentence)
  expect(explainForUser('deposit_deadline_passed')).toBe(sentence)
})

it('an offer whose nonce is used may be one that the user has taken', () => {
  const sentence = explainForUser(new QuoteVerificationError(['nonce_used']))
  expect(sentence).toMatch(/look at your swap before you try again/)
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
  ['failed', /^The network cannot be read/],
  // A token, or an account, in the place of the settlement contract.
  ['absent', /^This network has no such contract at this address\. Please check the address/],
  ['no code', /^This network has no such contract at this address\. Please check the address/],
] as const)('a read that fails at the node of the user: %s', (failure, sentence) => {
  expect(explainForUser(new ChainReadError(failure, 'fetch failed'))).toMatch(sentence)
})

it('an approval moves no tokens, whatever became of it', () => {
  expect(explainForUser(new DepositError('APPROVAL_UNCERTAIN'))).toMatch(/None of your tokens were sent/)
})

it.each([
  new Error('of a wallet'),
  'toString',
  '',
  new AggregatorError('MOON_ECLIPSED', 'No.', { httpStatus: 400 }),
])('anything else gets a general sentence: %s', (problem) => expect(explainForUser(problem)).toBe(OTHER))

it('a reason of a newer instance that may pass is a problem of the service', () => {
  const error = new AggregatorError('MOON_ECLIPSED', 'No.', { httpStatus: 503 })
  expect(explainForUser(error)).toBe(explainForUser('INTERNAL'))
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

it.each(['TimeoutError', 'AbortError'])(
  'a wait that its signal has ended says what to look at: %s',
  (name) => {
    expect(explainForUser(new DOMException('The time is over.', name))).toContain(AGAIN)
  },
)

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

it('a wallet on another network is told to switch it, also by an error of viem that has this one inside', () => {
  const mismatch = new ChainMismatchError({ chain: foundry, currentChainId: 1 })
  const sentence = 'Your wallet is on another network. Please switch it.'
  expect(explainForUser(mismatch)).toBe(sentence)
  expect(explainForUser(new BaseError('Not sent.', { cause: mismatch }))).toBe(sentence)
})

it('the reasons for which solvers decline differ in their sentences', () => {
  expect(explainForUser('AMOUNT_TOO_SMALL')).toMatch(/too small .*Please enter a larger one/)
  for (const code of ['AMOUNT_TOO_LARGE', 'INSUFFICIENT_LIQUIDITY', 'BOND_CANNOT_COVER'])
    expect(explainForUser(code)).toMatch(/too large .*Please enter a smaller one/)
  expect(explainForUser('UNSUPPORTED_PAIR')).toMatch(/Please choose another token/)
})

it('what is no error gets the general sentence too, as a `catch` may pass anything', () => {
  for (const thrown of [undefined, null, 5])
    expect(explainForUser(thrown as never)).toBe(explainForUser(new Error()))
})
