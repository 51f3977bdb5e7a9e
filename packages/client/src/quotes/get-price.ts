import type { Address } from 'viem'
import { messageReader, readAddress, readInteger, readText, readUint256 } from '../calls/answer-fields.js'

/** What one solver would give. It is not binding. */
export interface Price {
  readonly solver: Address
  /** The solver's display name, a text from a stranger. */
  readonly name: string
  /** Amounts in the token's smallest unit. */
  readonly inputAmount: bigint
  readonly outputAmount: bigint
}

/** The best price at a moment. Nobody can deposit with it: ask for a quote. */
export interface PriceAnswer {
  readonly best: Price
  /** Number of valid offers, the best one included. */
  readonly offers: number
  /** When the offers were collected, Unix time in milliseconds. */
  readonly asOf: number
}

/** Reads the answer to a price request. @throws UnreadableAnswer */
export const readPriceAnswer = messageReader<'GetPriceResponse', PriceAnswer>({
  best: messageReader<'Price', Price>({
    solver: readAddress,
    name: readText,
    inputAmount: readUint256,
    outputAmount: readUint256,
  }),
  offers: readInteger,
  asOf: readInteger,
})
