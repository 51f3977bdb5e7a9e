import type { Address } from 'viem'
import {
  messageReader,
  optional,
  readAddress,
  readBoolean,
  readInteger,
  readList,
  readMessage,
  readNumber,
  readOptional,
  readUint256,
} from '../calls/answer-fields.js'
import { type Token, toToken } from './list-chains.js'

/** A token of a chain, and how much it is traded. Its decimals are for display, listed or not. */
export interface ListedToken extends Token {
  /** Whether it is on the operator's list. Symbol and decimals of others are what their contracts say. */
  readonly listed: boolean
  /** URL of its logo at the instance; undefined without one. */
  readonly logo: string | undefined
  /** Number of its orders that were settled in the last 24 hours. */
  readonly orders24h: number
  /** Block time of its last settled order, Unix time in seconds; undefined without one. */
  readonly lastUsed: number | undefined
}

/** Two tokens that were traded in one direction. Amounts in the token's smallest unit. */
export interface ListedPair {
  readonly inputToken: Address
  readonly outputToken: Address
  readonly destinationChainId: number
  /** Whether both tokens are on the operator's lists of their chains. */
  readonly listed: boolean
  /** Number of orders that were settled in the last 24 hours, and the sums of both sides. */
  readonly orders24h: number
  readonly inputVolume24h: bigint
  readonly outputVolume24h: bigint
  /** Median time from deposit to settlement by block times; undefined without such an order. */
  readonly medianFillMs24h: number | undefined
  /** Block time of the last settled order, Unix time in seconds; undefined without one. */
  readonly lastUsed: number | undefined
}

/** Reads tokens. @param url of the instance @throws UnreadableAnswer */
export function readTokens(answer: unknown, url: string): ListedToken[] {
  return readList(readMessage<'ListTokensResponse'>(answer).tokens).map((token) => {
    const { logo, ...message } = readMessage<'TokenSummary'>(token)
    return {
      ...toToken(token),
      listed: readBoolean(message.listed),
      // Any other text would lead away from the instance.
      logo: /^\/[\w./-]+$/.test(`${logo}`) ? url + logo : undefined,
      orders24h: readInteger(message.orders24h),
      lastUsed: readOptional(message.lastUsed, readInteger),
    }
  })
}

const readPair = messageReader<'PairSummary', ListedPair>({
  inputToken: readAddress,
  outputToken: readAddress,
  destinationChainId: readInteger,
  listed: readBoolean,
  orders24h: readInteger,
  inputVolume24h: readUint256,
  outputVolume24h: readUint256,
  medianFillMs24h: optional(readNumber),
  lastUsed: optional(readInteger),
})

/** Reads pairs. @throws UnreadableAnswer */
export function readPairs(answer: unknown): ListedPair[] {
  return readList(readMessage<'ListPairsResponse'>(answer).pairs).map(readPair)
}
