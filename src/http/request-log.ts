import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ServiceError } from '../domain/errors.js'
import { escapeUnprintable } from '../domain/text.js'
import { createLineWriter, type Logger } from '../telemetry/log.js'
import { elapsedMs } from './arrival.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** What the answer says went wrong; undefined while nothing has. */
    refusal: Pick<ServiceError, 'reason' | 'quoteId'> | undefined
  }
  interface FastifyContextConfig {
    /** Whether the route writes its requests' lines itself: to be told of the end of an answer takes its time. */
    logsItself?: boolean
  }
}

/**
 * Writes the line of a request that has its answer.
 * @param status of the answer
 */
export type LogRequest = (request: FastifyRequest, status: number) => void

/** Paths that machines ask for again and again. */
const ROUTINE = /^\/(health|metrics)\b/
const MAX_PATH_LENGTH = 200

/**
 * Has one line logged for each request, when its answer is done: by the routes that log themselves and by those who
 * answer what reaches no route, with what is returned here; of all other routes by a hook.
 */
export function createRequestLog(server: FastifyInstance, log: Logger): LogRequest {
  server.decorateRequest('refusal', undefined)
  if (!log.isLevelEnabled('info')) return () => {}
  const writeLine = createLineWriter(log, 'info', 'request')
  const writeRoutineLine = createLineWriter(log, 'debug', 'request')
  const logRequest: LogRequest = (request, status) => {
    const write = ROUTINE.test(request.url) ? writeRoutineLine : writeLine
    write(fieldsOf(request, status))
  }
  server.addHook('onRoute', (route) => {
    if (route.config?.logsItself) return
    route.onResponse = (request, reply, done) => {
      logRequest(request, reply.statusCode)
      done()
    }
  })
  return logRequest
}

/** The fields of a line as the inside of a JSON object. The path is the one text in it that a client chooses freely. */
function fieldsOf(request: FastifyRequest, status: number): string {
  const { id, method, url, clientAddress, refusal } = request
  const fields =
    `"requestId":"${id}","method":"${method}","path":${jsonOf(pathOf(url))},"status":${status},` +
    `"durationMs":${Math.round(elapsedMs(request) * 10) / 10},"client":"${clientAddress}"`
  if (refusal === undefined) return fields
  const quoteId = refusal.quoteId === undefined ? '' : `,"quoteId":"${refusal.quoteId}"`
  return `${fields},"reason":"${refusal.reason}"${quoteId}`
}

/** Queries are left out: they may be long, and name people. */
function pathOf(url: string): string {
  const end = url.indexOf('?')
  return (end === -1 ? url : url.slice(0, end)).slice(0, MAX_PATH_LENGTH)
}

function jsonOf(text: string): string {
  return escapeUnprintable(JSON.stringify(text))
}
