import type { AuctionContext } from '../../src/auction/context.js'

/** A context with the parts that a test has. */
export function contextOf(parts: { readonly [Part in keyof AuctionContext]?: unknown }): AuctionContext {
  return parts as unknown as AuctionContext
}
