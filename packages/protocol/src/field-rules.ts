/**
 * The rules of fields, each stated once. Requests, the OpenAPI document, the command line, the configuration and the client
 * read them here. The rules of names and endpoint URLs have files of their own: `display-name.ts` and `endpoint-url.ts`.
 *
 * The rules are not annotations of the protos (protovalidate). The command line and the configuration have no protos, and
 * the validator takes 23 µs for the request of an order and 53 µs for that of a quote (protovalidate-es 1.3, Node 20). The
 * whole answer with an order takes 43 µs.
 */

import { VERIFY_MODES, type VerifyMode } from './quotes/verification.js'
import { DAY_SECONDS } from './values/time.js'

/** The rule of a text. */
export interface TextRule {
  /** Every valid text matches it. A parser may require more. */
  readonly pattern: RegExp
  /** In characters (code points). */
  readonly minLength?: number
  readonly maxLength?: number
  /** What the text must be, to follow the field's name in an error. */
  readonly mustBe: string
}

/** The rule of an integer. */
export interface IntegerRule {
  readonly minimum: number
  readonly maximum: number
  /** What the integer must be, to follow the field's name in an error. */
  readonly mustBe: string
}

/** The largest integer that every JSON reader reads exactly: 2^53-1. */
export const MAX_INTEGER = 9_007_199_254_740_991
/** 2^256-1, as a literal, which bundlers leave out where nobody uses it. */
export const MAX_UINT256 = 0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffn
export const MAX_PORT = 65_535
/** Limit of a request's body. */
export const MAX_BODY_KIB = 64
/** Limit of the body of a solver's reply. */
export const MAX_REPLY_KIB = 64

/** An account or a contract, in any letter case (docs/decisions.md, D3). */
export const ADDRESS: TextRule = {
  pattern: /^0x[0-9a-fA-F]{40}$/,
  mustBe: 'must be a 20-byte address in hex with 0x',
}

/** 32 bytes in any letter case, such as an order id. */
export const BYTES32: TextRule = {
  pattern: /^0x[0-9a-fA-F]{64}$/,
  mustBe: 'must be 32 bytes in hex with 0x',
}

/** 32 bytes as the service writes them. */
export const LOWER_CASE_BYTES32: Pick<TextRule, 'pattern'> = { pattern: /^0x[0-9a-f]{64}$/ }

/** The bytes r, s, v. */
export const SIGNATURE: TextRule = {
  pattern: /^0x[0-9a-fA-F]{130}$/,
  mustBe: 'must be 65 bytes in hex with 0x',
}

/** The id of a quote, in any letter case. */
export const UUID: TextRule = {
  pattern: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  mustBe: 'must be a UUID',
}

/** A decimal uint256 (docs/decisions.md, D4), at most `MAX_UINT256`. */
export const UINT256: Pick<TextRule, 'pattern'> = { pattern: /^(0|[1-9][0-9]{0,77})$/ }

/** A decimal uint256 that is not zero. */
export const AMOUNT: TextRule = {
  pattern: /^[1-9][0-9]{0,77}$/,
  mustBe: 'must be a decimal integer of 1 to 2^256-1 without sign, point, exponent or leading zeros',
}

/** The name of a protocol: `<name>Quote` is a Solidity struct (docs/decisions.md, D1). */
export const PROTOCOL_NAME: TextRule = {
  pattern: /^[A-Za-z_][A-Za-z0-9_]*$/,
  mustBe: 'must be letters, digits and underscores, to name a Solidity struct',
}

/** The window of statistics (docs/decisions.md, D20). Requests may leave it out. */
export const STATS_WINDOW: TextRule = {
  pattern: /^(1h|24h|7d|30d)$/,
  mustBe: 'must be 1h, 24h, 7d or 30d',
}

/** Name and version of a contract's EIP-712 domain, as far as the service shows them. */
export const DOMAIN_TEXT = { maxLength: 256 }

/** A token's `decimals()`, which ERC-20 defines as `uint8`. */
export const DECIMALS = integerOf(0, 255)

/** A field of the type `uint32`. */
export const UINT32 = integerOf(0, 0xffff_ffff)

/** A field of the type `uint64`, in JSON. */
export const UINT64 = integerOf(0, MAX_INTEGER)

/** An EIP-155 chain id (docs/decisions.md, D7). */
export const CHAIN_ID = integerOf(1, MAX_INTEGER)

/** Time for the user's deposit, in seconds. */
export const DEPOSIT_WINDOW = integerOf(1, DAY_SECONDS)

/** The shortest time for which an offer may bind its solver, in seconds (docs/decisions.md, D32). At most the deposit window. */
export const MIN_DEPOSIT_WINDOW = integerOf(30, DAY_SECONDS)

/** The longest time of a round that an operator can set, in milliseconds. */
export const MAX_QUOTE_TIMEOUT_MS = 60_000

/** The soft deadline of a round (docs/decisions.md, D16); 0 is none. */
const SOFT_DEADLINE_MS = integerOf(0, MAX_QUOTE_TIMEOUT_MS)

/** Valid offers that end a round from its soft deadline on (docs/decisions.md, D16). */
export const MIN_QUOTES = integerOf(1, 1000)

/** What a request for quotes may leave out. The instance has a default for each. */
export interface QuoteOptions {
  /** Length of the deposit window in seconds, 1 to 86400; that of the instance when left out. */
  readonly depositWindow?: number
  /**
   * Time in milliseconds after which the round ends as soon as there are `minQuotes` valid offers; that of the instance when
   * left out.
   */
  readonly softDeadlineMs?: number
  /** Valid offers that must exist before the soft deadline ends the round, 1 to 1000; 1 when left out. */
  readonly minQuotes?: number
  /** Which offers the settlement contract checks; that of the instance when left out. An instance may allow less. */
  readonly verify?: VerifyMode
  /** Shortest time for which an offer may bind its solver, in seconds, 30 to the deposit window, which holds when left out. */
  readonly minDepositWindow?: number
}

/**
 * The rules of a request's optional fields: of an integer, of a text, or the values. The client, the command line and the API
 * reference read them here. An instance may allow less.
 */
export const QUOTE_OPTION_RULES = {
  depositWindow: DEPOSIT_WINDOW,
  softDeadlineMs: SOFT_DEADLINE_MS,
  minQuotes: MIN_QUOTES,
  verify: VERIFY_MODES,
  minDepositWindow: MIN_DEPOSIT_WINDOW,
} satisfies Record<keyof QuoteOptions, IntegerRule | TextRule | readonly string[]>

/** Seconds between two rounds of a quote stream (docs/decisions.md, D16). */
export const REFRESH_SECONDS = integerOf(5, 60)

export const UNIX_MS = integerOf(1, MAX_INTEGER, 'must be Unix time in milliseconds')

/** @__NO_SIDE_EFFECTS__ Bundlers leave out the rules that an app does not use. */
export function integerOf(minimum: number, maximum: number, mustBe?: string): IntegerRule {
  const highest = maximum === MAX_INTEGER ? '2^53-1' : maximum
  return { minimum, maximum, mustBe: mustBe ?? `must be an integer of ${minimum} to ${highest}` }
}

/** Chains of one solver session. */
export const MAX_SESSION_CHAINS = 32

/** Orders of one page of a list. */
export const DEFAULT_PAGE_SIZE = 50
export const MAX_PAGE_SIZE = 200
