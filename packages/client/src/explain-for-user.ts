import { partsOf } from '../../protocol/src/node/revert.js'
import { AggregatorError, type ClientReason } from './calls/aggregator-error.js'
import { isRetryable } from './calls/retry-delay.js'
import type { DepositReason } from './deposits/deposit-outcome.js'
import { isDeclined } from './deposits/wallet-refusal.js'
import type { QuoteProblem } from './offers/verify-quote.js'
import type { DeclineCode } from './quotes/get-quote-record.js'

const SOON = 'Please try again in a moment.'
const LATER = `The exchange service has a problem. ${SOON}`
const BUSY = `There are too many requests at the moment. ${SOON}`
const NEW = 'Please ask for a new one.'
const APP =
  'This app asked for something that the exchange service does not accept. Please report it to the makers of the app.'
const NOT_AS_ASKED = `The offer is not what you asked for. Do not take it. ${NEW}`
const FORGED = `The offer is not genuine. Do not take it. ${NEW}`
const BEFORE_AGAIN =
  'If you have already sent your tokens, look at your swap before you try again: it may still go through.'
const NO_CONTRACT =
  'This network has no such contract at this address. Please check the address, or report it to the makers of the app.'
const TOO_LARGE = 'This amount is too large for this pair at the moment. Please enter a smaller one.'
const GONE = `This offer is no longer available. ${NEW}`

/**
 * A sentence for each problem, by the error that it is of: the codes of an instance are words of the service, and say nothing of the
 * user's tokens. A sentence names no code and no address, and says what the user can do.
 */
const ENGLISH = {
  AggregatorError: {
    // The service's reasons, without those that only solvers get.
    INVALID_ARGUMENT: APP,
    CHAIN_NOT_SUPPORTED: 'The exchange service does not support this network. Please choose another one.',
    QUOTE_NOT_FOUND: 'There is no record of this quote, or it is too old.',
    ROUTE_NOT_FOUND: APP,
    METHOD_NOT_ALLOWED: APP,
    API_KEY_INVALID: APP,
    API_KEY_REQUIRED: APP,
    RATE_LIMITED: BUSY,
    NO_QUOTES: 'Nobody offers this swap at the moment. Please try another amount or another token.',
    SOLVERS_BUSY: BUSY,
    CHAIN_UNAVAILABLE: `The exchange service cannot reach this network at the moment. ${SOON}`,
    DATABASE_UNAVAILABLE: LATER,
    CURSOR_UNKNOWN: 'Some updates were missed. Please reload the page.',
    STREAM_LIMIT_REACHED: BUSY,
    SUBSCRIBER_TOO_SLOW: 'Your connection is too slow for live updates. Please reload the page.',
    SHUTTING_DOWN: LATER,
    INTERNAL: LATER,
    // The client's reasons.
    CONNECTION_FAILED: `The exchange service cannot be reached. Please check your connection. ${BEFORE_AGAIN}`,
    TIMED_OUT: `There was no answer in time. ${BEFORE_AGAIN}`,
    CANCELLED: 'The request was cancelled.',
    ANSWER_INVALID: LATER,
  } satisfies Partial<Record<ClientReason, string>>,
  QuoteVerificationError: {
    malformed: FORGED,
    user_mismatch: NOT_AS_ASKED,
    input_token_mismatch: NOT_AS_ASKED,
    output_token_mismatch: NOT_AS_ASKED,
    order_type_mismatch: NOT_AS_ASKED,
    output_chain_mismatch: NOT_AS_ASKED,
    fixed_amount_mismatch: NOT_AS_ASKED,
    amount_out_of_range: NOT_AS_ASKED,
    chain_mismatch: NOT_AS_ASKED,
    equal_tokens: 'Both tokens are the same. Please choose another one.',
    signature_length: FORGED,
    signature_v: FORGED,
    signature_high_s: FORGED,
    signature_mismatch: FORGED,
    order_id_mismatch: FORGED,
    deposit_address_mismatch: FORGED,
    deposit_deadline_passed: `This offer has expired. ${NEW}`,
    deposit_deadline_too_near: `This offer ends too soon. ${NEW}`,
    price_too_bad: 'The price is worse than the one that you have seen. Please look at the new one.',
    mode_mismatch: `This offer is not for a transfer to an address. Do not send tokens there. ${NEW}`,
    fill_deadline_too_early: NOT_AS_ASKED,
    fill_deadline_too_far: `This offer could lock your tokens for too long. ${NEW}`,
    solver_not_registered: GONE,
    bond_too_small: GONE,
    below_minimum_order: 'The amount is below the minimum of this exchange. Please enter a larger one.',
    nonce_used:
      'This offer is no longer available. You may have taken it: look at your swap before you try again.',
  } satisfies Record<QuoteProblem, string>,
  DepositError: {
    REVERTED: `The network has refused the transaction: nothing was deposited. ${NEW}`,
    TOO_LATE_FOR_TRANSFER: `It is too late to send tokens for this offer. ${NEW} ${BEFORE_AGAIN}`,
    INSUFFICIENT_BALANCE:
      'Your account has too little of the token that you sell. Nothing was sent. Please enter a smaller amount.',
    APPROVAL_TOO_LOW:
      'The approval in your wallet was lower than the amount, and nothing was deposited. Please try again, and leave it as it is.',
    APPROVAL_UNCERTAIN:
      'It is not certain whether you have given the approval. None of your tokens were sent. Please try again.',
    REPLACED: 'You have cancelled the transaction in your wallet, or replaced it.',
    EXPIRED: `This offer has expired. ${NEW} ${BEFORE_AGAIN}`,
    UNCERTAIN: 'It is not certain whether your tokens were sent. Look into your wallet before you try again.',
  } satisfies Record<DepositReason, string>,
  ChainReadError: { absent: NO_CONTRACT, 'no code': NO_CONTRACT },
  DeclineCode: {
    AMOUNT_TOO_SMALL: 'This amount is too small for this pair. Please enter a larger one.',
    AMOUNT_TOO_LARGE: TOO_LARGE,
    INSUFFICIENT_LIQUIDITY: TOO_LARGE,
    BOND_CANNOT_COVER: TOO_LARGE,
    UNSUPPORTED_PAIR: 'Nobody offers this pair at the moment. Please choose another token.',
  } satisfies Partial<Record<DeclineCode, string>>,
  other: {
    DECLINED: 'You have declined in your wallet: nothing was deposited.',
    ChainMismatchError: 'Your wallet is on another network. Please switch it.',
    ConnectorNotConnectedError: 'No wallet is connected.',
    NothingStoredError: 'Nothing was sent: your browser does not store what a refund needs.',
    ChainReadError: 'The network cannot be read at the moment. Please check your connection and try again.',
    other: `Something went wrong. ${BEFORE_AGAIN}`,
  },
} as const

/**
 * Explains a problem to the user of a wallet, in plain sentences without codes. The messages of errors are for developers.
 * @param problem what a `catch` gives: an error of this client, of which the first problem counts, or a user's no in the wallet; or a
 * reason or problem itself, or `DECLINED`; or that a wallet is on another network. Anything else gets a general sentence
 * @param options.wasAsked `false` says that the wallet was not asked for the deposit: then no sentence speaks of tokens that may have been sent
 */
export function explainForUser(problem: unknown, { wasAsked = true } = {}): string {
  const sentence = sentenceOf(problem)
  return wasAsked ? sentence : sentence.replace(` ${BEFORE_AGAIN}`, '')
}

function sentenceOf(problem: unknown): string {
  const { AggregatorError: service, other } = ENGLISH
  const { name, reason, failure, problems } = Object(problem)
  const named =
    typeof problem === 'string'
      ? sentenceIn<string>(Object.assign({}, ...Object.values(ENGLISH)), problem)
      : (sentenceIn(sentenceIn<Sentences>(ENGLISH, name), reason ?? failure ?? problems?.[0]) ??
        // Those of viem are inside of others.
        partsOf(problem).flatMap((part) => sentenceIn(other, part.name) ?? [])[0])
  if (named !== undefined) return named
  // A reason of a newer instance. Its words are no user's.
  if (problem instanceof AggregatorError) return isRetryable(problem) ? service.INTERNAL : other.other
  return isDeclined(problem) ? other.DECLINED : other.other
}

type Sentences = Readonly<Record<string, string>>

/** What a table has under a name that anyone may have chosen. */
function sentenceIn<T>(table: Readonly<Record<string, T>> | undefined, name: unknown): T | undefined {
  return typeof name === 'string' && table && Object.hasOwn(table, name) ? table[name] : undefined
}
