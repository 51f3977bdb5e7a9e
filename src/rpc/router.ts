import type { DescMethod, DescService, Message } from '@bufbuild/protobuf'
import type { ConnectRouter, HandlerContext, ServiceImpl } from '@connectrpc/connect'
import type { UniversalHandler, UniversalServerRequest } from '@connectrpc/connect/protocol'
import { toServiceError } from '../domain/errors.js'
import { MAX_BODY_KIB } from '../domain/field-rules.js'
import { wholeEnvelopes } from '../internals/whole-envelopes.js'
import { wrapHandlers } from '../internals/wrap-handlers.js'
import type { Admission } from './admission.js'
import { toStreamHandler } from './event-handler.js'
import type { EventStreams } from './event-streams.js'
import { withErrors } from './interceptors.js'
import { chainIn } from './method.js'
import type { MethodHandler } from './middleware.js'
import { toQuoteStreamHandler } from './quote-stream-handler.js'
import type { QuoteStreams } from './quote-streams.js'
import { requestKey, toRpcContext } from './rpc-context.js'
import { toSessionHandler } from './session-handler.js'
import type { SolverSessions } from './solver-sessions.js'

/** Adds one of gRPC's own services, without middleware, to a Connect router. */
export type AddService = (router: ConnectRouter) => void

interface RpcServicesOptions {
  readonly methods: readonly MethodHandler[]
  /** Undefined for a server without streams. */
  readonly streams: EventStreams | undefined
  readonly quoteStreams: QuoteStreams | undefined
  readonly solverSessions: SolverSessions
  /** They add gRPC's own services, which have no middleware. */
  readonly addServices: readonly AddService[]
}

/** All methods, as an adapter of Connect serves them. */
export interface RpcServices {
  /** Adds them to a Connect router. */
  readonly routes: (router: ConnectRouter) => void
  /** The limits of methods by path. gRPC's own services have none. */
  readonly admissions: ReadonlyMap<string, Admission>
}

/** Collects the methods with their middleware, the streams and gRPC's own services. */
export function rpcServices(options: RpcServicesOptions): RpcServices {
  const { methods, streams, quoteStreams, solverSessions, addServices } = options
  const handlers: [DescMethod, unknown][] = [
    ...methods.map((method): [DescMethod, unknown] => [method.desc, toHandler(method)]),
    [solverSessions.desc, toSessionHandler(solverSessions)],
  ]
  const admissions = new Map<string, Admission>([
    ...methods.map((method): [string, Admission] => [pathOf(method.desc), admissionOf(method)]),
    [pathOf(solverSessions.desc), solverSessions],
  ])
  if (streams !== undefined) {
    handlers.push([streams.desc, toStreamHandler(streams)])
    admissions.set(pathOf(streams.desc), streams)
  }
  if (quoteStreams !== undefined) {
    handlers.push([quoteStreams.desc, toQuoteStreamHandler(quoteStreams)])
    admissions.set(pathOf(quoteStreams.desc), quoteStreams)
  }

  function routes(router: ConnectRouter): void {
    for (const service of new Set(handlers.map(([desc]) => desc.parent))) {
      const own = handlers.filter(([desc]) => desc.parent === service)
      const implementation = Object.fromEntries(own.map(([desc, handler]) => [desc.localName, handler]))
      router.service(service, implementation as ServiceImpl<DescService>, { interceptors: [withErrors] })
    }
    for (const add of addServices) add(router)
    wrapHandlers(router, withWholeEnvelopes)
  }

  return { routes, admissions }
}

function pathOf({ parent, name }: DescMethod): string {
  return `/${parent.typeName}/${name}`
}

/** The types of bodies that are envelopes. Those of Connect's unary calls are not. */
const ENVELOPES = /^application\/(?:grpc|connect\+)/i

/** Gives a handler bodies of whole envelopes. A body that is JSON already has no chunks. */
function withWholeEnvelopes(handler: UniversalHandler): UniversalHandler {
  const gather = (request: UniversalServerRequest) => {
    const { body, header } = request
    const hasChunks = typeof body === 'object' && body !== null && Symbol.asyncIterator in body
    if (!hasChunks || !ENVELOPES.test(header.get('content-type') ?? '')) return handler(request)
    const chunks = body as AsyncIterable<Uint8Array>
    return handler({ ...request, body: wholeEnvelopes(chunks, MAX_BODY_KIB * 1024) })
  }
  return Object.assign(gather, handler)
}

function admissionOf(method: MethodHandler): Admission {
  return { checkLimits: method.checkLimits, countRejected: method.count }
}

/** Builds Connect's handler of a unary method. It counts each call. */
function toHandler(method: MethodHandler) {
  return async (message: Message, context: HandlerContext): Promise<object> => {
    const start = performance.now()
    context.values.get(requestKey).recordReached()
    const call = toRpcContext(context)
    const count = (result: Parameters<MethodHandler['count']>[1]) =>
      method.count(call.protocol, result, (performance.now() - start) / 1000)
    try {
      method.assertChain(chainIn(message))
      const response = await method.handle(message, call)
      count('OK')
      return response
    } catch (thrown) {
      const error = toServiceError(thrown)
      count(error.reason)
      throw error
    }
  }
}
