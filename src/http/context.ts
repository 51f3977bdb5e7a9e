import type { RateLimits } from '../rpc/limits/rate-limits.js'
import type { Logger } from '../telemetry/log.js'
import type { LogRequest } from './request-log.js'

/** What the routes of the server share. */
export interface HttpContext {
  readonly rateLimits: RateLimits
  readonly logRequest: LogRequest
  /** The HTML for a person at a path that does not exist; undefined without a console. */
  readonly lostPage: ((path: string) => string) | undefined
  readonly log: Logger
}
