import type { FastifyInstance, FastifyRequest } from 'fastify'
import { REASONS, type ServiceError } from '../domain/errors.js'
import { escapeUnprintable } from '../domain/text.js'
import type { QuoteSummary } from '../rpc/method.js'
import { createLineWriter, type Logger } from '../telemetry/log.js'
import { elapsedMs } from './arrival.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** What the answer says went wrong; undefined while nothing has. */
    refusal: Pick<ServiceError, 'reason' | 'quoteId'> | undefined
    /** What came of a quote; undefined of other requests, and of a quote without an offer. */
    quote: QuoteSummary | undefined
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
/** Errors of the service, and requests that took that long, are logged whatever the share. */
const SLOW_MS = 1000
const SERVER_ERROR = 500

/**
 * Has one line logged for each request, or for a share of them, when its answer is done: by the routes that log themselves and by those who
 * answer what reaches no route, with what is returned here; of all other routes by a hook.
 * @param share of 0 to 1: the part of the requests that is logged when it is neither slow nor an error of the service
 */
export function createRequestLog(server: FastifyInstance, log: Logger, share: number): LogRequest {
  server.decorateRequest('refusal', undefined)
  server.decorateRequest('quote', undefined)
  if (!log.isLevelEnabled('info')) return () => {}
  const writeLine = createLineWriter(log, 'info', 'request')
  const writeRoutineLine = createLineWriter(log, 'debug', 'request')
  const logRequest: LogRequest = (request, status) => {
    const durationMs = elapsedMs(request)
    const isChosen = share === 1 || Math.random() < share
    if (!isChosen && durationMs < SLOW_MS && !isServerError(request, status)) return
    const write = ROUTINE.test(request.url) ? writeRoutineLine : writeLine
    write(fieldsOf(request, status, durationMs))
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

/** On gRPC an error has status 200 as well. */
function isServerError({ refusal }: FastifyRequest, status: number): boolean {
  return status >= SERVER_ERROR || (refusal !== undefined && REASONS[refusal.reason].http >= SERVER_ERROR)
}

/** The fields of a line as the inside of a JSON object. The path is the one text in it that a client chooses freely. */
function fieldsOf(request: FastifyRequest, status: number, durationMs: number): string {
  const { id, method, url, clientAddress, refusal } = request
  const fields =
    `"requestId":"${id}","method":"${method}","path":${jsonOf(pathOf(url))},"status":${status},` +
    `"durationMs":${Math.round(durationMs * 10) / 10},"client":"${clientAddress}"${quoteFieldsOf(request)}`
  return refusal === undefined ? fields : `${fields},"reason":"${refusal.reason}"`
}

/** Of a quote: its id, the solver of the best offer, and the number of offers; an error with the id had none. */
function quoteFieldsOf({ quote, refusal }: FastifyRequest): string {
  if (quote !== undefined)
    return `,"quoteId":"${quote.quoteId}","winner":"${quote.winner}","offers":${quote.offers}`
  return refusal?.quoteId === undefined ? '' : `,"quoteId":"${refusal.quoteId}","offers":0`
}

/** Queries are left out: they may be long, and name people. */
function pathOf(url: string): string {
  const end = url.indexOf('?')
  return (end === -1 ? url : url.slice(0, end)).slice(0, MAX_PATH_LENGTH)
}

function jsonOf(text: string): string {
  return escapeUnprintable(JSON.stringify(text))
}
