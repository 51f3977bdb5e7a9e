import type { FastifyInstance, FastifyRequest } from 'fastify'
import { REASONS, type ServiceError } from '../../packages/protocol/src/errors.js'
import type { QuoteSummary } from '../clients/call.js'
import type { Logger } from '../telemetry/log.js'
import { elapsedMs } from './request.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The error of the response; undefined while there is none. */
    rejection: Pick<ServiceError, 'reason' | 'quoteId'> | undefined
    /** The result of a quote; undefined for other requests, and for a quote without an offer. */
    quote: QuoteSummary | undefined
  }
  interface FastifyContextConfig {
    /** Whether the route logs its requests itself, which costs less than a hook at the end of each response. */
    logsItself?: boolean
  }
}

/**
 * Writes the line of a request whose response is ready.
 * @param status of the response
 */
export type LogRequest = (request: FastifyRequest, status: number) => void

/** Paths that monitoring requests all the time. */
const ROUTINE = /^\/(health|metrics|grpc\.health\.v1\.Health)\b/
const MAX_PATH_LENGTH = 200
/** Requests that took at least as long, and errors of the service, are logged whatever the share is. */
const SLOW_MS = 1000
const SERVER_ERROR = 500

/**
 * Logs one line for each request, or for a share of them, when its response is ready. A hook does so for most routes. Routes that
 * log themselves, and the handlers of unknown paths, call the returned function.
 * @param share from 0 to 1: the part of the requests that is logged when they are neither slow nor errors of the service
 */
export function createRequestLog(server: FastifyInstance, log: Logger, share: number): LogRequest {
  server.decorateRequest('rejection', undefined)
  server.decorateRequest('quote', undefined)
  if (!log.isLevelEnabled('info')) return () => {}
  const logRequest: LogRequest = (request, status) => {
    const durationMs = elapsedMs(request)
    const isChosen = share === 1 || Math.random() < share
    if (!isChosen && durationMs < SLOW_MS && !isServerError(request, status)) return
    const level = ROUTINE.test(request.url) ? 'debug' : 'info'
    log[level](fieldsOf(request, status, durationMs), 'request')
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

/** On gRPC, errors have status 200 too. */
function isServerError({ rejection }: FastifyRequest, status: number): boolean {
  return status >= SERVER_ERROR || (rejection !== undefined && REASONS[rejection.reason].http >= SERVER_ERROR)
}

/** The fields of a line. The path is the only text that a client chooses freely. */
function fieldsOf(request: FastifyRequest, status: number, elapsed: number) {
  const { id: requestId, method, originalUrl: url, rejection, quote } = request
  const { address: client, apiKey } = request.client
  const durationMs = Math.round(elapsed * 10) / 10
  const fields = {
    requestId,
    method,
    path: pathOf(url),
    status,
    durationMs,
    client,
    key: apiKey?.label,
    ...quote,
  }
  if (rejection === undefined) return fields
  const { reason, quoteId } = rejection
  // An error with a quote's id had no offers.
  return quoteId === undefined ? { ...fields, reason } : { ...fields, quoteId, offers: 0, reason }
}

/** Queries are left out: they may be long, and may identify people. */
function pathOf(url: string): string {
  const end = url.indexOf('?')
  return (end === -1 ? url : url.slice(0, end)).slice(0, MAX_PATH_LENGTH)
}
