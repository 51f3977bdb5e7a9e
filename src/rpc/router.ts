import type { DescMethod, DescService } from '@bufbuild/protobuf'
import type { ConnectRouter, ConnectRouterOptions, MethodImpl, ServiceImpl } from '@connectrpc/connect'
import { toServiceError } from '../domain/errors.js'
import { wrapHandlers } from '../internals/wrap-handlers.js'
import { type Admission, markReached, NO_LIMITS, withAdmission } from './admission.js'
import { toConnectError } from './connect-errors.js'
import { withMessagesAfterFirst } from './continuation.js'
import { withTimerDeadlines } from './deadline.js'
import { toStreamHandler } from './event-handler.js'
import type { EventStreams } from './event-streams.js'
import { chainIn } from './method.js'
import type { MethodHandler } from './middleware.js'
import { toQuoteStreamHandler } from './quote-stream-handler.js'
import type { QuoteStreams } from './quote-streams.js'
import { requestKey, toRpcContext } from './rpc-context.js'
import { toSessionHandler } from './session-handler.js'
import type { SolverSessions } from './solver-sessions.js'

/** Adds one of gRPC's own services, without middleware, to a Connect router. */
export type AddService = (router: ConnectRouter, options: Pick<ConnectRouterOptions, 'interceptors'>) => void

/**
 * Adds the methods with their middleware, the streams and gRPC's own services to a Connect router, which serves them
 * as gRPC, gRPC-Web and Connect.
 */
export function rpcRoutes(
  methods: readonly MethodHandler[],
  streams: EventStreams | undefined,
  quoteStreams: QuoteStreams | undefined,
  solverSessions: SolverSessions,
  addServices: readonly AddService[],
) {
  const handlers: [DescMethod, unknown][] = [
    ...methods.map((method): [DescMethod, unknown] => [method.desc, toHandler(method)]),
    [solverSessions.desc, toSessionHandler(solverSessions)],
  ]
  const admissions = new Map<DescMethod, Admission>([
    ...methods.map((method): [DescMethod, Admission] => [method.desc, admissionOf(method)]),
    [solverSessions.desc, solverSessions],
  ])
  if (streams !== undefined) {
    handlers.push([streams.desc, toStreamHandler(streams)])
    admissions.set(streams.desc, streams)
  }
  if (quoteStreams !== undefined) {
    handlers.push([quoteStreams.desc, toQuoteStreamHandler(quoteStreams)])
    admissions.set(quoteStreams.desc, quoteStreams)
  }
  return (router: ConnectRouter): void => {
    const options = { interceptors: [markReached] }
    for (const service of new Set(handlers.map(([desc]) => desc.parent))) {
      const own = handlers.filter(([desc]) => desc.parent === service)
      const implementation = Object.fromEntries(own.map(([desc, handler]) => [desc.localName, handler]))
      router.service(service, implementation as ServiceImpl<DescService>, options)
    }
    for (const add of addServices) add(router, options)
    wrapHandlers(router, (handler) => {
      const isStream =
        handler.method.methodKind === 'server_streaming' || handler.method === solverSessions.desc
      const sending = isStream ? withMessagesAfterFirst(handler) : handler
      return withTimerDeadlines(withAdmission(sending, admissions.get(handler.method) ?? NO_LIMITS))
    })
  }
}

function admissionOf(method: MethodHandler): Admission {
  return { checkLimits: method.checkLimits, countRejected: method.count }
}

function toHandler(method: MethodHandler): MethodImpl<MethodHandler['desc']> {
  return async (message, context) => {
    const start = performance.now()
    const call = toRpcContext(context)
    const count = (result: Parameters<MethodHandler['count']>[1]) =>
      method.count(call.protocol, result, (performance.now() - start) / 1000)
    try {
      method.assertChain(chainIn(message))
      const response = await method.handle(message, call)
      count('OK')
      return response as Record<string, unknown>
    } catch (thrown) {
      const error = toServiceError(thrown)
      count(error.reason)
      context.values.get(requestKey).recordError(error)
      throw toConnectError(error)
    }
  }
}
