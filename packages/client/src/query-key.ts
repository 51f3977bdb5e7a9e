/**
 * Makes a query key for TanStack Query or SWR, whose keys must be JSON. A `bigint`, such as an amount, becomes its decimal text.
 * Requests and answers of the client can be parts, such as `queryKey('quote', params)`.
 */
export function queryKey(...parts: readonly unknown[]): readonly unknown[] {
  const text = JSON.stringify(parts, (_name, value) => (typeof value === 'bigint' ? value.toString() : value))
  return JSON.parse(text)
}
