import {
  messageReader,
  type ReadBy,
  type Readers,
  readAddress,
  readInteger,
  readText,
  readUint256,
} from '../calls/answer-fields.js'

/** What one solver would give. It is not binding. */
export interface Price extends ReadBy<typeof PRICE> {}
const PRICE = {
  solver: readAddress,
  /** The solver's display name, a text from a stranger. */
  name: readText,
  /** Amounts in the token's smallest unit. */
  inputAmount: readUint256,
  outputAmount: readUint256,
} satisfies Readers<'Price'>

/** The best price at a moment. Nobody can deposit with it: ask for a quote. */
export interface PriceAnswer extends ReadBy<typeof PRICE_ANSWER> {}
const PRICE_ANSWER = {
  best: messageReader(PRICE),
  /** Number of valid offers, the best one included. */
  offers: readInteger,
  /** When the offers were collected, Unix time in milliseconds. */
  asOf: readInteger,
} satisfies Readers<'GetPriceResponse'>

/** Reads the answer to a price request. @throws UnreadableAnswer */
export const readPriceAnswer = messageReader(PRICE_ANSWER)
