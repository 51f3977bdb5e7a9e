import type { Address, TypedDataDomain } from 'viem'
import type { VerifyMode } from '../../../protocol/src/quotes/verification.js'
import {
  listOf,
  messageReader,
  optional,
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
export interface Token {
  readonly address: Address
  /** Text from a stranger: show it only next to the address. */
  readonly symbol: string | undefined
  /** Those of an instance are for display. Where money depends on them, read them from the user's node (`readToken`). */
  readonly decimals: number | undefined
}

/** A chain that an instance serves. It is discovery, not trust: an instance could name any contract. */
export interface Chain {
  readonly chainId: number
  /** The operator's name of the chain; `Chain <id>` at an instance that does not send one. */
  readonly name: string
  /** Base URL of a block explorer, whose pages are `/tx/<hash>` and `/address/<address>`; undefined when there is none. */
  readonly explorerUrl: string | undefined
  /** The settlement contract. */
  readonly settlement: Address
  /** Part of the primary type of a quote, `<name>Quote`. */
  readonly protocolName: string
  /** EIP-712 domain of the contract; undefined while the instance does not know it. */
  readonly domain: TypedDataDomain | undefined
  /** The token of solvers' bonds; undefined while the instance does not know it. */
  readonly bondToken: Token | undefined
  /** Bond that a solver must hold, in the bond token's smallest unit. */
  readonly minimumBond: bigint
  /** Chains on which the output may be paid, this one included. */
  readonly destinationChainIds: readonly number[]
  /** Deposit window of a request without one, in seconds. */
  readonly defaultDepositWindow: number
  /** Time from the deposit deadline to the fill deadline, in seconds. */
  readonly fillWindow: number
  /** Longest time of a round. */
  readonly quoteTimeoutMs: number
  /** Soft deadline of a request without one; 0 is none. */
  readonly quoteSoftTimeoutMs: number
  /** Most solvers that one quote asks. */
  readonly maxQuoteFanOut: number
  readonly status: ChainStatus
  /** The highest block seen; undefined until the chain has answered for the first time. */
  readonly headBlock: number | undefined
  /** Number of active solvers. */
  readonly activeSolvers: number
  /** Most that the `verify` of a request may ask for; undefined at an instance that does not send it. */
  readonly verifyMax: VerifyMode | UnknownText | undefined
}

/** Reads a token of an answer. @throws UnreadableAnswer */
export const toToken = messageReader<'Token', Token>({
  address: readAddress,
  symbol: optional(readText),
  decimals: optional(readInteger),
})

const readDomain = messageReader<'Eip712Domain', TypedDataDomain>({
  name: optional(readText),
  version: optional(readText),
  chainId: optional(readInteger),
  verifyingContract: optional(readAddress),
  salt: optional(readBytes32),
})

const readNamedChain = messageReader<'Chain', Chain>({
  chainId: readInteger,
  name: readText,
  explorerUrl: optional(readLink),
  settlement: readAddress,
  protocolName: readText,
  domain: optional(readDomain),
  bondToken: optional(toToken),
  minimumBond: readUint256,
  destinationChainIds: listOf(readInteger),
  defaultDepositWindow: readInteger,
  fillWindow: readInteger,
  quoteTimeoutMs: readInteger,
  quoteSoftTimeoutMs: readInteger,
  maxQuoteFanOut: readInteger,
  status: readEnum,
  headBlock: optional(readInteger),
  activeSolvers: readInteger,
  verifyMax: optional(readEnum),
})

/** Reads the chains of an instance. @throws UnreadableAnswer */
export function readChains(answer: unknown): Chain[] {
  return readList(readMessage<'ListChainsResponse'>(answer).chains).map((chain) => {
    const message = readMessage<'Chain'>(chain)
    return readNamedChain({ name: `Chain ${message.chainId}`, ...message })
  })
}

/** @returns undefined for what a page must not link to */
function readLink(value: unknown): string | undefined {
  const text = readText(value)
  return /^https?:\/\//.test(text) ? text : undefined
}
