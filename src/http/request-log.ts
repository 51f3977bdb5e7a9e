import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ServiceError } from '../domain/errors.js'
import type { Logger } from '../telemetry/log.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** What the answer says went wrong; undefined while nothing has. */
    refusal: Pick<ServiceError, 'reason' | 'quoteId'> | undefined
  }
}

/** Paths that machines ask for again and again. */
const ROUTINE = /^\/(health|metrics)\b/
const MAX_PATH_LENGTH = 200

/** Logs one line for each request when its answer is done; for a WebSocket, when it is open. */
export function registerRequestLog(server: FastifyInstance, log: Logger): void {
  server.decorateRequest('refusal', undefined)
  if (!log.isLevelEnabled('info')) return
  server.addHook('onResponse', (request, reply, done) => {
    logRequest(log, request, reply.statusCode, reply.elapsedTime)
    done()
  })
}

/** Logs the line of a request. */
export function logRequest(log: Logger, request: FastifyRequest, status: number, durationMs: number): void {
  const { id, method, url, ip, refusal } = request
  const line = {
    requestId: id,
    method,
    path: pathOf(url),
    status,
    durationMs: Math.round(durationMs * 10) / 10,
    client: ip,
    reason: refusal?.reason,
    quoteId: refusal?.quoteId,
  }
  if (ROUTINE.test(url)) log.debug(line, 'request')
  else log.info(line, 'request')
}

/** Queries are left out: they may be long, and name people. */
function pathOf(url: string): string {
  const end = url.indexOf('?')
  return (end === -1 ? url : url.slice(0, end)).slice(0, MAX_PATH_LENGTH)
}
