import type { Abi } from 'viem'
import type { EventWithPosition } from '../orders/block.js'
import type { Order } from '../orders/order.js'
import type { Quote } from '../quotes/quote.js'
import type { Bond } from '../solvers/solver.js'
import type { Address, Hex } from '../values/hex.js'

/** A call of a view function: what a node is asked, and what its answer means. */
export interface View<T> {
  /** The function's name. */
  readonly name: string
  /** The data of the call. */
  readonly data: Hex
  /** @throws Error when the answer is not one of this function */
  decode(answer: Hex): T
}

/**
 * A settlement contract's functions and events (docs/protocol.md, "Contract views" and "Contract events"). Each implementation
 * is a module, so that a bundle contains only what it uses. A deployment with another ABI needs a module of its
 * own, and a line in settlement-of-chain.ts.
 */
export interface Settlement {
  /** `eip712Domain()` (ERC-5267). */
  domain(): View<TypedDataDomain>
  /** `DEPOSIT_PROXY_CREATION_CODE_HASH()`, 32 bytes. */
  depositProxyCodeHash(): View<Hex>
  bond(solver: Address): View<Bond>
  order(chainId: number, orderId: Hex): View<Order>
  nonceUse(solver: Address, nonce: bigint): View<boolean>
  /** The deposit address of a quote, lower case; every value of the quote may be zero. */
  depositAddress(quote: Quote, signature: Hex): View<Address>
  /** The ERC-20 token of bonds, lower case. */
  bondToken(): View<Address>
  /** The part of an output that an order reserves, in hundredths of a percent. Not every deployment has it. */
  bondReservationBps(): View<bigint>
  /** The smallest output, in the output token's smallest unit. Not every deployment has it. */
  minOrder(): View<bigint>
  /** The smallest bond of a registration, in the bond token's smallest unit. Not every deployment has it. */
  minBond(): View<bigint>
  /** The data of `deposit`. */
  depositData(quote: Quote, signature: Hex): Hex
  /** The calls that users and solvers send. Not every deployment has `cancelNonces`. */
  readonly CALLS_ABI: Abi
  /** The calls that give a user something back. The last three are not on every deployment. */
  readonly REFUND_CALLS_ABI: Abi
  /** The calls by which a solver gives a bond and takes it back. */
  readonly BOND_CALLS_ABI: Abi
  /**
   * The topics of the logs of a solver's deposits and settlements: one of several, and null matches all. Deposits at an address have no
   * such log.
   */
  solverTopics(solver: Address): readonly (Hex | Hex[] | null)[]
  /** The first topics of all logs that are read: Keccak-256 of the events' signatures. */
  readonly READ_TOPICS: readonly Hex[]
  /**
   * Decodes logs of the contract. It ignores events that are not in docs/protocol.md, "Contract events".
   * @throws InconsistentAnswerError when the data has not the length that its event requires
   */
  decodeLogs(chainId: number, logs: readonly NodeLog[]): DecodedLogs
}

/** The members of an EIP-712 domain. */
export interface TypedDataDomain {
  readonly name?: string | undefined
  readonly version?: string | undefined
  readonly chainId?: number | bigint | undefined
  readonly verifyingContract?: Address | undefined
  readonly salt?: Hex | undefined
}

/** What solvers sign, as EIP-712 names it. */
export interface QuoteTypedData {
  readonly primaryType: string
  /** Its members by name, as far as the contract uses them. */
  readonly domain: TypedDataDomain
}

/** A settlement contract's requirements on orders; undefined without such a view (docs/protocol.md, "Contract views"). */
export interface SettlementTerms {
  /** `BOND_RESERVATION_BPS()`: the part of `outputAmount` that a free bond must cover, in hundredths of a percent. */
  readonly bondReservationBps: bigint | undefined
  /** `MIN_ORDER()`: the smallest `outputAmount`, in the output token's smallest unit. */
  readonly minOrder: bigint | undefined
}

/** The time of an event whose node has not sent it. block-reader.ts sets the time of its block. */
export const UNKNOWN_TIME = 0

/** A log as a node gives it, in one spelling (see parse-blocks.ts): hex is in lower case. */
export interface NodeLog {
  readonly address: Address
  readonly blockNumber: number
  readonly blockHash: Hex
  /** Unix time in seconds; many nodes leave it out. */
  readonly blockTimestamp?: number | undefined
  readonly transactionHash: Hex
  readonly transactionIndex?: number | undefined
  readonly logIndex: number
  readonly topics: readonly Hex[]
  readonly data: Hex
}

/** Decoded logs of the settlement contract. */
export interface DecodedLogs {
  /** In the order of the chain. */
  readonly events: readonly EventWithPosition[]
  /** The solvers that changed their own bond, in lower case. Order events name the solvers whose reserved bond changes. */
  readonly bondedSolvers: ReadonlySet<Address>
  readonly cancelledNonces: readonly SolverNonce[]
  /** Orders that may have changed by an event that subscribers do not get. */
  readonly changedOrders: readonly Hex[]
}

/** A nonce of a solver's quotes. */
export interface SolverNonce {
  /** Lower case. */
  readonly solver: Address
  readonly nonce: bigint
}
