import type { VerifyMode } from '../../../protocol/src/quotes/verification.js'
import {
  listOf,
  messageReader,
  optional,
  type ReadBy,
  type Readers,
  readAddress,
  readBytes32,
  readEnum,
  readInteger,
  readList,
  readMessage,
  readText,
  readUint256,
} from '../calls/answer-fields.js'
import type { Messages, UnknownText } from '../calls/message-types.js'

/** Whether an instance reads a chain; the proto describes each. A newer instance may have further ones. */
export type ChainStatus = Messages['Chain']['status'] | UnknownText

/** An ERC-20 token, as its contract describes it. */
export interface Token extends ReadBy<typeof TOKEN> {}
export const TOKEN = {
  address: readAddress,
  /** Text from a stranger: show it only next to the address. */
  symbol: optional(readText),
  /** Those of an instance are for display. Where money depends on them, read them from the user's node (`readToken`). */
  decimals: optional(readInteger),
} satisfies Readers<'Token'>

/** The contract's EIP-712 domain. */
const DOMAIN = {
  name: optional(readText),
  version: optional(readText),
  chainId: optional(readInteger),
  verifyingContract: optional(readAddress),
  salt: optional(readBytes32),
} satisfies Readers<'Eip712Domain'>

const MISS_COST = {
  token: readAddress,
  symbol: readText,
  /** In the bond token's smallest unit. */
  bond: readUint256,
} satisfies Readers<'MissCost'>

/** A chain that an instance serves. It is discovery, not trust: an instance could name any contract. */
export interface Chain extends ReadBy<typeof CHAIN> {}
const CHAIN = {
  chainId: readInteger,
  /** The operator's name of the chain; `Chain <id>` at an instance that does not send one. */
  name: readText,
  /** Base URL of a block explorer, whose pages are `/tx/<hash>` and `/address/<address>`; undefined when there is none. */
  explorerUrl: optional(readLink),
  /** A JSON-RPC endpoint for wallets that do not know the chain; undefined when the operator names none. */
  publicRpcUrl: optional(readLink),
  /**
   * Part of the output that the solver's bond pays when the order is refunded, in hundredths of a percent; undefined while the instance
   * does not know it.
   */
  bondReservationBps: optional(readInteger),
  /** The settlement contract. */
  settlement: readAddress,
  /** Part of the primary type of a quote, `<name>Quote`. */
  protocolName: readText,
  /** EIP-712 domain of the contract; undefined while the instance does not know it. */
  domain: optional(messageReader(DOMAIN)),
  /** The token of solvers' bonds; undefined while the instance does not know it. */
  bondToken: optional(messageReader(TOKEN)),
  /** Bond that a solver must hold, in the bond token's smallest unit. */
  minimumBond: readUint256,
  /** Chains on which the output may be paid, this one included. */
  destinationChainIds: listOf(readInteger),
  /** Deposit window of a request without one, in seconds. */
  defaultDepositWindow: readInteger,
  /** Time from the deposit deadline to the fill deadline, in seconds. */
  fillWindow: readInteger,
  /** Longest time of a round. */
  quoteTimeoutMs: readInteger,
  /** Soft deadline of a request without one; 0 is none. */
  quoteSoftTimeoutMs: readInteger,
  /** Most solvers that one quote asks. */
  maxQuoteFanOut: readInteger,
  status: readEnum<Messages['Chain']['status']>,
  /** The highest block seen; undefined until the chain has answered for the first time. */
  headBlock: optional(readInteger),
  /** Number of active solvers. */
  activeSolvers: readInteger,
  /** Most that the `verify` of a request may ask for; undefined at an instance that does not send it. */
  verifyMax: optional(readEnum<VerifyMode>),
  /** What a miss of one whole token costs its solver, for each token of the operator's list; undefined at an instance that does not send it. */
  missCosts: optional(listOf(messageReader(MISS_COST))),
} satisfies Readers<'Chain'>

const readChain = messageReader(CHAIN)

/** Reads the chains of an instance. @throws UnreadableAnswer */
export function readChains(answer: unknown): Chain[] {
  return readList(readMessage<'ListChainsResponse'>(answer).chains).map((chain) => {
    const message = readMessage<'Chain'>(chain)
    return readChain({ name: `Chain ${message.chainId}`, ...message })
  })
}

/** @returns undefined for what a page must not link to */
function readLink(value: unknown): string | undefined {
  const text = readText(value)
  return /^https?:\/\//.test(text) ? text : undefined
}
