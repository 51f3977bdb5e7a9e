import { type Address, type Hex, isAddress, type LocalAccount, maxUint256, type Transport } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import * as z from 'zod'
import { LONGEST_TIMER_MS } from '../../client/src/calls/retry-delay.js'
import { BYTES32, MAX_PORT, PROTOCOL_NAME } from '../../protocol/src/field-rules.js'
import type { DeclineCode } from '../../protocol/src/solvers/solver-result.js'
import { isDisplayName } from '../../protocol/src/values/display-name.js'
import { endpointUrlProblem } from '../../protocol/src/values/endpoint-url.js'
import type {
  DepositedOrder,
  FilledOrder,
  MinedTransaction,
  MissedOrder,
  OrderTerms,
  QuotedOrder,
  ShortOrder,
} from './orders/order-terms.js'
import type { AnswerResult } from './session/session-messages.js'
import type { IncomingRequest } from './session/wire-forms.js'

const SIGNING_METHODS = ['signMessage', 'signTypedData', 'signTransaction'] as const
/** What signs for the solver: any account of viem, also one whose key is elsewhere, such as in a KMS. */
export type SolverAccount = Pick<LocalAccount, 'address' | (typeof SIGNING_METHODS)[number]>

/** What a user asks for. Addresses in EIP-55 form. */
export interface SolverQuoteRequest extends IncomingRequest {
  /** Aborts at the deadline by the clock of this machine. A later answer counts for nothing. */
  readonly signal: AbortSignal
}

/**
 * The amount of the other side in its token's smallest unit: output for EXACT_INPUT, input for EXACT_OUTPUT; or why there is
 * none.
 */
export type QuoteAnswer = Priced | { readonly decline: DeclineCode }

/** A price, in the smallest unit of the token of the side that is not fixed. */
export interface Priced {
  readonly amount: bigint
  /**
   * For how long it binds, above 0: until then the user may deposit. The kit keeps it within the `minDepositDeadline` and the
   * `depositDeadline` of the request, and ignores it without the former. The whole deposit window when left out.
   */
  readonly expiresInSeconds?: number | undefined
}

/** How the solver is reached: changes of its session. */
export type SessionChange =
  | { readonly state: 'open'; readonly url: string; readonly sessionId: string }
  /** It is opened again unless `isFinal`. `code` is the instance's, such as `SHUTTING_DOWN`. */
  | {
      readonly state: 'lost'
      readonly error: Error
      readonly code: string | undefined
      readonly isFinal: boolean
    }

const LOG_METHODS = ['debug', 'info', 'warn', 'error'] as const
/** Writes a log, as pino does. */
export type SolverLog = Record<(typeof LOG_METHODS)[number], (fields: object, message: string) => void>

/** The options that are told something, but for `onError`. */
export type Callback = Exclude<Extract<keyof SolverOptions, `on${string}`>, 'onError'>

const MAX_UINT32 = 2 ** 32 - 1

/** The type is the market maker's: values are checked as far as they can be. */
const functionOf = <F>() => z.custom<F>((value) => typeof value === 'function', 'must be a function')
const callback = <T>() => functionOf<(told: T) => void>().optional()
const COUNT = z.int().min(1).max(MAX_UINT32)
const MILLISECONDS = z.int().min(1).max(LONGEST_TIMER_MS)
const SHARE = z.number().min(0).max(1)
const UNITS = z.bigint().min(0n).max(maxUint256)
const WEI = UNITS.min(1n)
const TEXT = z.string().min(1)
/** Letters of both cases must be those of EIP-55. */
const ADDRESS = z.custom<Address>(
  (value) => isAddress(String(value)),
  'must be a 20-byte address in hex with 0x, with a right checksum',
)
const TOKEN = z.union(
  [ADDRESS, z.object({ address: ADDRESS, allowance: UNITS })],
  'must be an address with a right checksum, or { address, allowance } with a bigint',
)
const URL_OF_NODE = z.url({ protocol: /^(http|ws)s?$/, error: 'must be an http or ws URL' })
const URL_OF_INSTANCE = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' })

/** A chain on which the solver quotes and fills. */
export type ChainOptions = z.input<typeof CHAIN>
/** The options of a chain, with the defaults. */
export type ChainSettings = z.output<typeof CHAIN>

const CHAIN = z.strictObject({
  /** The node, which the solver trusts: an http or ws URL, or a transport of viem. */
  rpc: z.union([URL_OF_NODE, functionOf<Transport>()], 'must be an http or ws URL, or a transport of viem'),
  /** The settlement contract. Pin it: the contract takes your tokens. Never take it from an instance. */
  settlement: ADDRESS,
  /**
   * The tokens that the solver trades, in both directions. At the start, the settlement contract is approved to take each
   * without a limit, or up to `allowance` in the token's smallest unit; 0 approves nothing. Others are declined.
   */
  tokens: z.array(TOKEN).min(1).readonly(),
  /** How often the solver looks for new blocks, in milliseconds; 1000 when left out. */
  pollIntervalMs: MILLISECONDS.default(1_000),
  /**
   * An order that was paid is read again, and a transaction kept, until it is so many blocks deep; 64 when left out, two epochs of
   * Ethereum, and 120 at most. A reorganisation may remove it before, and then it is sent again. The node must have the state of so many
   * blocks: as a rule, nodes keep that of 128.
   */
  confirmations: z.int().min(0).max(120).default(64),
  /**
   * How long a payment may wait before it is sent again with the same nonce and fees that are higher by at least 12.5 %, in
   * milliseconds; 15 000 when left out.
   */
  raiseFeesAfterMs: MILLISECONDS.default(15_000),
  /** The highest `maxFeePerGas` of a payment, in wei; ten times what the node suggests at that time when left out. */
  maxFeePerGas: WEI.optional(),
  /**
   * The most gas of a transaction; 1,000,000 when left out, more than twice what `settle` needs. A hostile token may burn more, and then
   * the order is not paid.
   */
  maxGas: WEI.default(1_000_000n),
  /**
   * How many orders are paid at once, at least 1; 16 when left out, as Ethereum's nodes keep so many transactions of an account for
   * sure. The others wait, the nearest fill deadline first.
   */
  maxPayments: COUNT.default(16),
  /**
   * Quotes that were not taken are cancelled when a slash would take more than this, in the bond token's smallest unit; 0 when left
   * out. The others go on counting in `maxOpenBond`.
   */
  cancelAbove: UNITS.default(0n),
  /** What cancellations may cost in an hour, in wei; 0.05 of the native coin when left out. Then the solver declines. */
  maxCancelFees: WEI.default(5n * 10n ** 16n),
})

/** Everything that a solver is made of. */
export type SolverOptions = z.input<typeof OPTIONS>
/** The options of a solver, with what a market maker allows when it says nothing (docs/decisions.md, D23). */
export type Settings = z.output<typeof OPTIONS>

const OPTIONS = z.strictObject({
  /** A private key (32 bytes), with which quotes are signed fastest, or an account. */
  account: z.custom<Hex | SolverAccount>(
    (value) => isPrivateKey(value) || (isAddress(Object(value).address) && hasAll(value, SIGNING_METHODS)),
    `must be a private key of 32 bytes in hex with 0x, or an account with address, ${SIGNING_METHODS.join(', ')}`,
  ),
  /** Display name, 1 to 64 visible characters. */
  name: z.string().refine(isDisplayName, 'must have 1 to 64 visible characters'),
  /** Base URL of the instance. Several are its replicas, or instances of one operator; one at a time is used. */
  aggregatorUrl: z.union(
    [URL_OF_INSTANCE, z.array(URL_OF_INSTANCE).min(1).readonly()],
    'must be an http or https URL, or a list of at least one',
  ),
  /** The instance's PROTOCOL_NAME; `Service` when left out. */
  protocolName: z.string().regex(PROTOCOL_NAME.pattern, PROTOCOL_NAME.mustBe).default('Service'),
  /** By chain id. */
  chains: z
    .record(z.string().regex(/^[1-9]\d{0,14}$/), CHAIN, 'must have chains by their ids')
    .refine((chains) => Object.keys(chains).length > 0, 'must have at least one chain'),
  /**
   * Prices a swap, or declines. When it throws, returns no amount or does not answer by the deadline, that is a decline, a line of
   * `log.warn` and one of `quotesFailed`.
   */
  quote: functionOf<(request: SolverQuoteRequest) => QuoteAnswer | Promise<QuoteAnswer>>(),
  /**
   * Says whether the kit pays an order, and when: no order is paid before the answer, or waits for that of another one. It is asked once
   * for each deposit, again when it throws, and after a restart. An order that is not paid costs a part of the bond.
   */
  mayFill: functionOf<(order: DepositedOrder) => boolean | Promise<boolean>>().optional(),
  /**
   * Says whether an order is paid whose input has arrived with less than was quoted, as with a token that takes a fee. Such orders are
   * not paid when left out, and cost a part of the bond.
   */
  acceptLess: functionOf<(order: ShortOrder) => boolean | Promise<boolean>>().optional(),
  /**
   * Where the instance reaches `handler`, without `/quote`. The solver then registers this endpoint at the start, and opens
   * no session. Give its path a random part of 22 characters, since strangers who know an endpoint can ask it for quotes. A
   * proxy must pass on the path as it is.
   */
  endpointUrl: z
    .string()
    .refine((url) => endpointUrlProblem(url) === undefined, {
      error: ({ input }) => endpointUrlProblem(String(input)),
    })
    .optional(),
  /** SQLite file of what must survive a restart. In memory when left out: then a restart misses deposits. */
  stateFile: TEXT.optional(),
  /**
   * How many times open quotes may promise the funds of a token; 1 when left out. Most quotes are never taken. With a higher number
   * an order may come that cannot be filled, which costs a part of the bond.
   */
  overcommit: z.number().min(1).default(1),
  /** The part of the free bond that one quote may cost, above 0 to 1; 0.1 when left out. */
  maxBondShare: SHARE.gt(0).default(0.1),
  /** The part of the free bond that all quotes without a deposit may cost whose nonce is unused; 0.5 when left out. */
  maxOpenBond: SHARE.gt(0).default(0.5),
  /**
   * The part of the free bond that quotes for a deposit address may cost where the contract keeps tokens after a cancellation; 0.05
   * when left out. 0 declines them there.
   */
  maxAddressBondShare: SHARE.default(0.05),
  /** The least time between the deposit deadline and the fill deadline, in seconds, and never less than 4 blocks; 60 when left out. */
  minFillSeconds: COUNT.default(60),
  /** The longest time until the fill deadline, in seconds; 3600 when left out. */
  maxLockSeconds: COUNT.default(3_600),
  /** Port of `GET /metrics` for Prometheus and `GET /health`; none when left out. */
  metricsPort: z.int().min(1).max(MAX_PORT).optional(),
  /** Where that port is open; 127.0.0.1 when left out. */
  metricsHost: TEXT.default('127.0.0.1'),
  /** Nothing is logged when left out. */
  log: z
    .custom<SolverLog>(
      (value) => hasAll(value, LOG_METHODS),
      `must have the functions ${LOG_METHODS.join(', ')}`,
    )
    .optional(),
  onSession: callback<SessionChange>(),
  /** Called with what came of each answer. Only with a session. */
  onResult: callback<AnswerResult>(),
  /** Called for each quote that is about to be sent; again when a reorganisation has removed its cancellation. */
  onQuoted: callback<QuotedOrder>(),
  /**
   * Called when the deposit of an order was seen that is to be paid, before the payment: to hedge early. At least once for each order:
   * again after a restart or a reorganisation before its end, and when the deposit moves from an address to the contract. The payment
   * does not wait for it.
   */
  onDeposit: callback<DepositedOrder>(),
  /**
   * Called when the deposit of an order that `onDeposit`, `onFilled` or `onMissed` was called for has gone: a reorganisation has removed
   * it, and its cost; or its quote was cancelled before what lies at the deposit address became an order.
   */
  onDepositRemoved: callback<OrderTerms>(),
  /**
   * Called for each order that has been paid, by whomever, at least once over restarts and reorganisations. Its amounts are those of the
   * chain.
   */
  onFilled: callback<FilledOrder>(),
  /** Called for each order that was not paid in time; again when it has cost more. */
  onMissed: callback<MissedOrder>(),
  /** Called for each quote whose cancellation is on the chain. Prices are not told. */
  onCancelled: callback<OrderTerms>(),
  /** Called for each transaction that is mined; again, by its nonce, when a reorganisation has changed it. */
  onTransaction: callback<MinedTransaction>(),
  /** Called with every error that the solver goes on after. */
  onError: callback<unknown>(),
})

export const CALLBACKS = Object.keys(OPTIONS.shape).filter(
  (name): name is Callback => name.startsWith('on') && name !== 'onError',
)

/**
 * Reads options, with the defaults of those that were left out. It checks what a program without types may get wrong: a wrong limit or
 * a misspelt option would otherwise show only when it costs money.
 * @throws Error that names each wrong option and what it must be
 */
export function readOptions(options: SolverOptions): Settings {
  const { data, error } = OPTIONS.safeParse(options)
  if (error !== undefined)
    throw new Error(`the options of the solver are not valid:\n${z.prettifyError(error)}`)
  return data
}

function isPrivateKey(value: unknown): boolean {
  try {
    return BYTES32.pattern.test(String(value)) && privateKeyToAccount(value as `0x${string}`) !== undefined
  } catch {
    return false
  }
}

/** Whether a value has all these functions. */
function hasAll(value: unknown, names: readonly string[]): boolean {
  return names.every((name) => typeof Object(value)[name] === 'function')
}
