/** A part of a value, down to what its functions return. */
type Part<T> = T extends (...args: infer A) => infer R
  ? (...args: A) => Part<R>
  : T extends object
    ? { readonly [K in keyof T]?: Part<T[K]> }
    : T

/** A value that has only what the tested code uses of it; its names and types are those of the whole. */
export const only = <T>(part: Part<T>): T => part as unknown as T
