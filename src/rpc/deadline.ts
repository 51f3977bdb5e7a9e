import type { UniversalHandler, UniversalServerRequest } from '@connectrpc/connect/protocol'
import { requestKey } from './rpc-context.js'

/** The longest delay of a timer, in milliseconds. Node turns a longer one into 1 ms and prints a warning. */
const MAX_TIMER_MS = 2 ** 31 - 1
/** Units of `grpc-timeout`, which has at most 8 digits. */
const UNIT_MS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 }
const MAX_GRPC_MS = 99_999_999

/**
 * Wraps a handler so that the deadline of a call is what is left of it: Connect and `withDirectCalls` count it from the moment they
 * read it, and a call may have waited for its limits. A deadline that is too long for a timer becomes the longest one, 24.8
 * days. Connect's own option `maxTimeoutMs` rejects such calls, although their deadline is valid.
 */
export function withRemainingDeadlines(handler: UniversalHandler): UniversalHandler {
  const wrapped = (request: UniversalServerRequest) => {
    const elapsedMs = request.contextValues?.get(requestKey).elapsedMs() ?? 0
    const header = withRemaining(request.header, elapsedMs)
    return handler(header === undefined ? request : { ...request, header })
  }
  return Object.assign(wrapped, handler)
}

/** The headers with what is left of their deadline; undefined when they have none, or none that is valid. */
export function withRemaining(header: Headers, elapsedMs: number): Headers | undefined {
  const leftOf = (ms: number) => Math.floor(Math.min(Math.max(ms - elapsedMs, 0), MAX_TIMER_MS))
  const [, digits, unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(header.get('grpc-timeout') ?? '') ?? []
  if (digits !== undefined) {
    const leftMs = leftOf(Number(digits) * (UNIT_MS[unit] ?? 0))
    return withHeader(
      header,
      'grpc-timeout',
      leftMs > MAX_GRPC_MS ? `${Math.floor(leftMs / 1000)}S` : `${leftMs}m`,
    )
  }
  const connectTimeout = header.get('connect-timeout-ms') ?? ''
  if (!/^\d{1,10}$/.test(connectTimeout)) return undefined
  return withHeader(header, 'connect-timeout-ms', String(leftOf(Number(connectTimeout))))
}

function withHeader(header: Headers, name: string, value: string): Headers {
  const copy = new Headers(header)
  copy.set(name, value)
  return copy
}
