import type { UniversalHandler, UniversalServerRequest } from '@connectrpc/connect/protocol'

/** The longest delay of a timer, in milliseconds. Node turns a longer one into 1 ms and prints a warning. */
const MAX_TIMER_MS = 2 ** 31 - 1
const HOUR_S = 3600
const MINUTE_S = 60
/** Units of `grpc-timeout` in seconds. In smaller units, 8 digits are never too long. */
const UNIT_SECONDS: Readonly<Record<string, number>> = { H: HOUR_S, M: MINUTE_S, S: 1 }

/**
 * Wraps a handler so that a deadline that is too long for a timer becomes the longest one, 24.8 days. Connect's own option
 * `maxTimeoutMs` rejects such calls, although their deadline is valid.
 */
export function withTimerDeadlines(handler: UniversalHandler): UniversalHandler {
  const wrapped = (request: UniversalServerRequest) => {
    const header = shortened(request.header)
    return handler(header === undefined ? request : { ...request, header })
  }
  return Object.assign(wrapped, handler)
}

/** The headers with the longest deadline; undefined when they need no change. */
function shortened(header: Headers): Headers | undefined {
  const [, digits, unit = ''] = /^(\d{1,8})([HMS])$/.exec(header.get('grpc-timeout') ?? '') ?? []
  if (Number(digits) * (UNIT_SECONDS[unit] ?? 0) * 1000 > MAX_TIMER_MS)
    return withHeader(header, 'grpc-timeout', `${Math.floor(MAX_TIMER_MS / 1000)}S`)
  const connectTimeout = header.get('connect-timeout-ms') ?? ''
  if (/^\d{1,10}$/.test(connectTimeout) && Number(connectTimeout) > MAX_TIMER_MS)
    return withHeader(header, 'connect-timeout-ms', String(MAX_TIMER_MS))
  return undefined
}

function withHeader(header: Headers, name: string, value: string): Headers {
  const copy = new Headers(header)
  copy.set(name, value)
  return copy
}
