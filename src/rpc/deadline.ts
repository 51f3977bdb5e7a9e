import type { UniversalHandler, UniversalServerRequest } from '@connectrpc/connect/protocol'

/** The longest delay of a timer, in milliseconds: Node makes 1 ms of a longer one, and prints a warning for each. */
const MAX_TIMER_MS = 2 ** 31 - 1
const HOUR_S = 3600
const MINUTE_S = 60
/** Units of `grpc-timeout` in seconds. Its 8 digits of a smaller unit are never too long. */
const UNIT_SECONDS: Readonly<Record<string, number>> = { H: HOUR_S, M: MINUTE_S, S: 1 }

/**
 * Wraps a handler so that a caller's deadline beyond what a timer can wait is that longest wait, 24.8 days. Connect's
 * own option `maxTimeoutMs` refuses such calls, though their deadline is valid.
 */
export function withTimerDeadlines(handler: UniversalHandler): UniversalHandler {
  const answer = (request: UniversalServerRequest) => {
    const header = shortened(request.header)
    return handler(header === undefined ? request : { ...request, header })
  }
  return Object.assign(answer, handler)
}

/** The headers with a deadline that fits; undefined when nothing is to be changed. */
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
