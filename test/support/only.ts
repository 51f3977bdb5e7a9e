/** A part of a value: each name is one of the whole, and what is no function has its type. */
type Part<T> = T extends (...args: never[]) => unknown
  ? (...args: never[]) => unknown
  : T extends object
    ? { readonly [K in keyof T]?: Part<T[K]> }
    : T extends string
      ? string
      : T

/** A fake that has only what the tested code uses. */
export const only = <T>(part: NoInfer<Part<T>>): T => part as unknown as T
