/** Version 00 of W3C Trace Context: version, trace id, parent id, flags. */
const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/**
 * Reads the header `traceparent` of a request (W3C Trace Context, 3.2), which solvers then get.
 * @returns undefined for a header that is absent or not valid: the standard says to ignore it
 */
export function readTraceparent(value: unknown): string | undefined {
  return typeof value === 'string' && TRACEPARENT.test(value) ? value : undefined
}
