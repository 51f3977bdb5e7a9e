import type { Address, Hex, LocalAccount, Transport } from 'viem'
import type { DeclineCode } from '../../protocol/src/solvers/solver-result.js'
import type {
  DepositedOrder,
  FilledOrder,
  MissedOrder,
  OrderTerms,
  QuotedOrder,
  ShortOrder,
} from './orders/order-terms.js'
import type { SessionResult } from './session/session-messages.js'
import type { IncomingRequest } from './session/wire-forms.js'

/** What signs for the solver: any account of viem, also one whose key is elsewhere, such as in a KMS. */
export type SolverAccount = Pick<
  LocalAccount,
  'address' | 'signMessage' | 'signTypedData' | 'signTransaction'
>

/** A chain on which the solver quotes and fills. */
export interface ChainOptions {
  /** The node, which the solver trusts: an http or ws URL, or a transport of viem. */
  readonly rpc: string | Transport
  /** The settlement contract. Pin it: the contract takes your tokens. Never take it from an instance. */
  readonly settlement: Address
  /**
   * The tokens that the solver trades, in both directions. At the start, the settlement contract is approved to take each
   * without a limit, or up to `allowance` in the token's smallest unit; 0 approves nothing. Others are declined.
   */
  readonly tokens: readonly (Address | { readonly address: Address; readonly allowance: bigint })[]
  /** How often the solver looks for new blocks, in milliseconds; 1000 when left out. */
  readonly pollIntervalMs?: number
  /**
   * An order that was paid is read again, and a transaction kept, until it is so many blocks deep; 64 when left out, and 120 at most. A
   * reorganisation may remove it before, and then it is sent again. The node must have the state of so many blocks.
   */
  readonly confirmations?: number
  /**
   * How long a payment may wait before it is sent again with the same nonce and fees that are higher by at least 12.5 %, in
   * milliseconds; 15 000 when left out.
   */
  readonly raiseFeesAfterMs?: number
  /** The highest `maxFeePerGas` of a payment, in wei; ten times what the node suggests at that time when left out. */
  readonly maxFeePerGas?: bigint
  /** The most gas of a transaction; 1,000,000 when left out. A hostile token may burn more, and then the order is not paid. */
  readonly maxGas?: bigint
  /** How many orders are paid at once, at least 1; 16 when left out. The others wait, the nearest fill deadline first. */
  readonly maxPayments?: number
  /**
   * Quotes that were not taken are cancelled when a slash would take more than this, in the bond token's smallest unit; 0 when left
   * out. The others go on counting in `maxOpenBond`.
   */
  readonly cancelAbove?: bigint
  /** What cancellations may cost in an hour, in wei; 0.05 of the native coin when left out. Then the solver declines. */
  readonly maxCancelFees?: bigint
}

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

/** What came of an answer, with what it was about: undefined for a request that this process has not had lately. */
export interface AnswerResult extends SessionResult {
  readonly request: Omit<SolverQuoteRequest, 'signal'> | undefined
  /** What was offered; undefined without an offer. */
  readonly inputAmount: bigint | undefined
  readonly outputAmount: bigint | undefined
  /** Why none was made. */
  readonly decline: DeclineCode | undefined
}

/** A transaction of the account that was mined. */
export interface MinedTransaction {
  readonly chainId: number
  /** Of the account: each nonce has one transaction in the end. */
  readonly nonce: number
  readonly hash: Hex
  /** `PAYMENT` of an order; `CANCELLATION` of quotes; `APPROVAL` of a token; `OTHER` has filled a gap of nonces, or is of an earlier version. */
  readonly purpose: 'PAYMENT' | 'CANCELLATION' | 'APPROVAL' | 'OTHER'
  /** Of a payment. */
  readonly orderId: Hex | undefined
  readonly isReverted: boolean
  readonly gasUsed: bigint
  /** In wei, without what a rollup takes for its data. */
  readonly gasCost: bigint
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

/** Writes a log, as pino does. */
export interface SolverLog {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** Everything that a solver is made of. */
export interface SolverOptions {
  /** A private key (32 bytes), with which quotes are signed fastest, or an account. */
  readonly account: Hex | SolverAccount
  /** Display name, 1 to 64 visible characters. */
  readonly name: string
  /** Base URL of the instance. Several are its replicas, or instances of one operator; one at a time is used. */
  readonly aggregatorUrl: string | readonly string[]
  /** The instance's PROTOCOL_NAME; `Service` when left out. */
  readonly protocolName?: string
  /** By chain id. */
  readonly chains: Readonly<Record<number, ChainOptions>>
  /**
   * Prices a swap, or declines. When it throws, returns no amount or does not answer by the deadline, that is a decline, a line of
   * `log.warn` and one of `quotesFailed`.
   */
  readonly quote: (request: SolverQuoteRequest) => QuoteAnswer | Promise<QuoteAnswer>
  /**
   * Says whether the kit pays an order, and when: no order is paid before the answer, or waits for that of another one. It is asked once
   * for each deposit, again when it throws, and after a restart. An order that is not paid costs a part of the bond.
   */
  readonly mayFill?: (order: DepositedOrder) => boolean | Promise<boolean>
  /**
   * Says whether an order is paid whose input has arrived with less than was quoted, as with a token that takes a fee. Such orders are
   * not paid when left out, and cost a part of the bond.
   */
  readonly acceptLess?: (order: ShortOrder) => boolean | Promise<boolean>
  /**
   * Where the instance reaches `handler`, without `/quote`. The solver then registers this endpoint at the start, and opens
   * no session. Give its path a random part of 22 characters, since strangers who know an endpoint can ask it for quotes. A
   * proxy must pass on the path as it is.
   */
  readonly endpointUrl?: string
  /** SQLite file of what must survive a restart. In memory when left out: then a restart misses deposits. */
  readonly stateFile?: string
  /**
   * How many times open quotes may promise the funds of a token; 1 when left out. Most quotes are never taken. With a higher number
   * an order may come that cannot be filled, which costs a part of the bond.
   */
  readonly overcommit?: number
  /** The part of the free bond that one quote may cost, above 0 to 1; 0.1 when left out. */
  readonly maxBondShare?: number
  /** The part of the free bond that all quotes without a deposit may cost whose nonce is unused; 0.5 when left out. */
  readonly maxOpenBond?: number
  /**
   * The part of the free bond that quotes for a deposit address may cost where the contract keeps tokens after a cancellation; 0.05
   * when left out. 0 declines them there.
   */
  readonly maxAddressBondShare?: number
  /** The least time between the deposit deadline and the fill deadline, in seconds, and never less than 4 blocks; 60 when left out. */
  readonly minFillSeconds?: number
  /** The longest time until the fill deadline, in seconds; 3600 when left out. */
  readonly maxLockSeconds?: number
  /** Port of `GET /metrics` for Prometheus and `GET /health`; none when left out. */
  readonly metricsPort?: number
  /** Where that port is open; 127.0.0.1 when left out. */
  readonly metricsHost?: string
  /** Nothing is logged when left out. */
  readonly log?: SolverLog
  readonly onSession?: (change: SessionChange) => void
  /** Called with what came of each answer. Only with a session. */
  readonly onResult?: (result: AnswerResult) => void
  /** Called for each quote that is about to be sent; again when a reorganisation has removed its cancellation. */
  readonly onQuoted?: (quote: QuotedOrder) => void
  /**
   * Called when the deposit of an order was seen that is to be paid, before the payment: to hedge early. At least once for each order:
   * again after a restart or a reorganisation before its end, and when the deposit moves from an address to the contract. The payment
   * does not wait for it.
   */
  readonly onDeposit?: (order: DepositedOrder) => void
  /**
   * Called when the deposit of an order that `onDeposit`, `onFilled` or `onMissed` was called for has gone: a reorganisation has removed
   * it, and its cost; or its quote was cancelled before what lies at the deposit address became an order.
   */
  readonly onDepositRemoved?: (order: OrderTerms) => void
  /**
   * Called for each order that has been paid, by whomever, at least once over restarts and reorganisations. Its amounts are those of the
   * chain.
   */
  readonly onFilled?: (order: FilledOrder) => void
  /** Called for each order that was not paid in time; again when it has cost more. */
  readonly onMissed?: (order: MissedOrder) => void
  /** Called for each quote whose cancellation is on the chain. Prices are not told. */
  readonly onCancelled?: (quote: OrderTerms) => void
  /** Called for each transaction that is mined; again, by its nonce, when a reorganisation has changed it. */
  readonly onTransaction?: (transaction: MinedTransaction) => void
  /** Called with every error that the solver goes on after. */
  readonly onError?: (error: unknown) => void
}
