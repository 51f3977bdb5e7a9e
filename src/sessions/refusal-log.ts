import { isOutage, type ServiceError } from '../domain/errors.js'
import type { Logger } from '../telemetry/log.js'
import type { SessionCaller } from './messages.js'

/** Time between two lines, so that a flood of connections writes few. */
const QUIET_MS = 1000

/** Builds the log of refused hellos. Errors of the service itself always have a line. */
export function createRefusalLog(log: Logger): (error: ServiceError, caller: SessionCaller) => void {
  let quietUntil = 0
  let skipped = 0
  return ({ reason, message, cause }, { transport, requestId, client }) => {
    if (cause !== undefined && !isOutage(reason)) log.error({ requestId, err: cause }, message)
    if (performance.now() < quietUntil) skipped++
    else {
      quietUntil = performance.now() + QUIET_MS
      log.debug({ reason, transport, requestId, client: client.key, skipped }, 'a solver session was refused')
      skipped = 0
    }
  }
}
