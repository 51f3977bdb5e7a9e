import { ORDER_TYPES, type Quote } from '../../../protocol/src/quotes/quote.js'

/** A quote as JSON has it: amounts and nonce in decimal, the order type by its number on the contract. */
export type WireQuote = {
  readonly [K in keyof Quote]: Quote[K] extends bigint ? string : K extends 'orderType' ? number : Quote[K]
}

/** Writes a quote as an instance reads it (docs/decisions.md, D4). */
export function toWireQuote(quote: Quote): WireQuote {
  return {
    ...quote,
    inputAmount: String(quote.inputAmount),
    outputAmount: String(quote.outputAmount),
    orderType: ORDER_TYPES.indexOf(quote.orderType),
    nonce: String(quote.nonce),
  }
}
