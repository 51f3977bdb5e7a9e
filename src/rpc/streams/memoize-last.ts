/** Keeps the last result of `make` for as long as its arguments are the same values. Their number must not change. */
export function memoizeLast<Arguments extends readonly unknown[], Value>(
  make: (...args: Arguments) => Value,
): (...args: Arguments) => Value {
  let last: { readonly args: Arguments; readonly value: Value } | undefined
  return (...args) => {
    if (last?.args.every((arg, index) => arg === args[index])) return last.value
    const value = make(...args)
    last = { args, value }
    return value
  }
}
