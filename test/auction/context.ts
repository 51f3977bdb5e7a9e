import type { AuctionContext } from '../../src/auction/context.js'

/** Of an object, the members that a test has; of a map, those of its values. */
type Some<T> = T extends (...args: never) => unknown
  ? T
  : T extends ReadonlyMap<infer K, infer V>
    ? ReadonlyMap<K, Partial<V>>
    : Partial<T>

/** A context with the parts that a test has, each of its own type. */
export function contextOf(parts: { readonly [Part in keyof AuctionContext]?: Some<AuctionContext[Part]> }) {
  return parts as AuctionContext
}
