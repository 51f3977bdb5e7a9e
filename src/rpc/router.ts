import type { DescMethod, DescService, Message } from '@bufbuild/protobuf'
import type { ConnectRouter, HandlerContext, ServiceImpl } from '@connectrpc/connect'
import type { UniversalHandler, UniversalServerRequest } from '@connectrpc/connect/protocol'
import { MAX_BODY_KIB } from '../../packages/protocol/src/field-rules.js'
import { wrapHandlers } from '../internals/connect.js'
import { wholeMessages } from '../internals/whole-messages.js'
import { toCallContext } from './call-context.js'
import { countCalls, withErrors } from './interceptors.js'
import { type Admission, chainIn } from './method.js'
import type { MethodHandler } from './middleware.js'
import { type EventStreams, toStreamHandler } from './streams/event-streams.js'
import { type QuoteStreams, toQuoteStreamHandler } from './streams/quote-streams.js'
import { toSessionHandler } from './streams/session-stream.js'
import type { SolverSessions } from './streams/solver-sessions.js'

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
  const served: (readonly [Admission, unknown])[] = [
    ...methods.map((method) => [method, toHandler(method)] as const),
    [solverSessions, toSessionHandler(solverSessions)],
  ]
  if (streams !== undefined) served.push([streams, toStreamHandler(streams)])
  if (quoteStreams !== undefined) served.push([quoteStreams, toQuoteStreamHandler(quoteStreams)])
  const byMethod = new Map(served.map(([admission]) => [admission.desc, admission]))
  const interceptors = [withErrors, countCalls(byMethod)]

  function routes(router: ConnectRouter): void {
    for (const service of new Set(served.map(([{ desc }]) => desc.parent))) {
      const own = served.filter(([{ desc }]) => desc.parent === service)
      const implementation = Object.fromEntries(own.map(([{ desc }, handler]) => [desc.localName, handler]))
      router.service(service, implementation as ServiceImpl<DescService>, { interceptors })
    }
    for (const add of addServices) add(router)
    wrapHandlers(router, withWholeMessages)
  }

  return { routes, admissions: new Map(served.map(([admission]) => [pathOf(admission.desc), admission])) }
}

function pathOf({ parent, name }: DescMethod): string {
  return `/${parent.typeName}/${name}`
}

/** The types of bodies that are envelopes. Those of Connect's unary calls are not. */
const ENVELOPES = /^application\/(?:grpc|connect\+)/i

const JSON_BODY = /^application\/(?:connect\+|grpc\+|grpc-web\+)?json/i

/** The longest message of gRPC's own services, which are not counted by any limit of calls. */
const MAX_OWN_BYTES = 1024

/** Gives a handler bodies of whole messages. */
function withWholeMessages(handler: UniversalHandler): UniversalHandler {
  const maxBytes = handler.service.typeName.startsWith('grpc.') ? MAX_OWN_BYTES : MAX_BODY_KIB * 1024
  const gather = (request: UniversalServerRequest) => {
    const { body, header } = request
    const hasChunks = typeof body === 'object' && body !== null && Symbol.asyncIterator in body
    if (!hasChunks) return handler(request)
    const type = header.get('content-type') ?? ''
    const hasEnvelopes = ENVELOPES.test(type)
    const input = JSON_BODY.test(type) ? undefined : handler.method.input
    const chunks = body as AsyncIterable<Uint8Array>
    return handler({ ...request, body: wholeMessages(chunks, maxBytes, hasEnvelopes, input) })
  }
  return Object.assign(gather, handler)
}

/** Builds Connect's handler of a unary method. */
function toHandler(method: MethodHandler) {
  return async (message: Message, context: HandlerContext): Promise<object> => {
    method.assertChain(chainIn(message))
    return method.handle(message, toCallContext(context))
  }
}
