import {
  listOf,
  messageReader,
  optional,
  type ReadBy,
  type Readers,
  readAddress,
  readBoolean,
  readInteger,
  readMessage,
  readNumber,
  readText,
  readUint256,
} from '../calls/answer-fields.js'
import { TOKEN } from './list-chains.js'

/** A token of a chain, and how much it is traded. Its decimals are for display, listed or not. */
export interface ListedToken extends ReadBy<typeof LISTED_TOKEN> {}
const LISTED_TOKEN = {
  ...TOKEN,
  /** Whether it is on the operator's list. Symbol and decimals of others are what their contracts say. */
  listed: readBoolean,
  /** Its name in the operator's list; undefined without one. */
  name: optional(readText),
  /** URL of its logo at the instance; undefined without one, and for a text that would lead away from the instance. */
  logo: (path: unknown) => (/^\/[\w./-]+$/.test(`${path}`) ? `${path}` : undefined),
  /** Number of its orders that were settled in the last 24 hours. */
  orders24h: readInteger,
  /** Block time of its last settled order, Unix time in seconds; undefined without one. */
  lastUsed: optional(readInteger),
} satisfies Readers<'TokenSummary'>

/** Two tokens that were traded in one direction. Amounts in the token's smallest unit. */
export interface ListedPair extends ReadBy<typeof PAIR> {}
const PAIR = {
  inputToken: readAddress,
  outputToken: readAddress,
  destinationChainId: readInteger,
  /** Whether both tokens are on the operator's lists of their chains. */
  listed: readBoolean,
  /** Number of orders that were settled in the last 24 hours, and the sums of both sides. */
  orders24h: readInteger,
  inputVolume24h: readUint256,
  outputVolume24h: readUint256,
  /** Median time from deposit to settlement by block times; undefined without such an order. */
  medianFillMs24h: optional(readNumber),
  /** Block time of the last settled order, Unix time in seconds; undefined without one. */
  lastUsed: optional(readInteger),
} satisfies Readers<'PairSummary'>

const readListedTokens = listOf(messageReader(LISTED_TOKEN))
const readListedPairs = listOf(messageReader(PAIR))

/** Reads tokens. @param url of the instance @throws UnreadableAnswer */
export function readTokens(answer: unknown, url: string): ListedToken[] {
  const tokens = readListedTokens(readMessage<'ListTokensResponse'>(answer).tokens)
  return tokens.map((token) => ({ ...token, logo: token.logo && url + token.logo }))
}

/** Reads pairs. @throws UnreadableAnswer */
export function readPairs(answer: unknown): ListedPair[] {
  return readListedPairs(readMessage<'ListPairsResponse'>(answer).pairs)
}
