/**
 * A part of a value: each name is one of the whole, a function takes and returns what could be of the real one, and what is no
 * function has its type. A set is a whole one.
 */
type Part<T> = T extends (...args: infer A) => infer R
  ? Fake<A, R>['call']
  : T extends ReadonlyMap<infer K, infer V>
    ? ReadonlyMap<K, Part<V>>
    : T extends ReadonlySet<unknown>
      ? T
      : T extends object
        ? { readonly [K in keyof T]?: Part<T[K]> }
        : T extends string
          ? string
          : T

/** As a method, so that a parameter may also be narrower than that of the real function. */
interface Fake<A extends unknown[], R> {
  call(...args: A): R extends Promise<infer V> ? Promise<Part<V>> : Part<R>
}

/** Casts a part to the whole. The type of the part is checked; that the tested code uses nothing else is up to the test. */
export const only = <T>(part: NoInfer<Part<T>>): T => part as unknown as T
