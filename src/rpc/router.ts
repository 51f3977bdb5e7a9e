import type { DescMethod, DescService } from '@bufbuild/protobuf'
import { configureTextEncoding, getTextEncoding } from '@bufbuild/protobuf/wire'
import type { ConnectRouter, ConnectRouterOptions, MethodImpl, ServiceImpl } from '@connectrpc/connect'
import { toServiceError } from '../domain/errors.js'
import { toConnectError } from './connect-errors.js'
import { withTimerDeadlines } from './deadline.js'
import { toStreamHandler } from './event-handler.js'
import type { EventStreams } from './event-streams.js'
import { rejectMalformed, stageKey, withMalformedRequests } from './malformed-request.js'
import type { ChainMessage } from './method.js'
import type { MethodHandler } from './middleware.js'
import { requestKey, toRpcContext } from './rpc-context.js'
import { withSharedMessages } from './shared-messages.js'

// Messages consist of short strings, which Node's buffers encode in half the time of the standard's encoder.
configureTextEncoding({ ...getTextEncoding(), encodeUtf8: (text) => Buffer.from(text) })

/** Adds one of gRPC's own services, without middleware, to a Connect router. */
export type AddService = (router: ConnectRouter, options: Pick<ConnectRouterOptions, 'interceptors'>) => void

/**
 * Adds the methods with their middleware, the event stream and gRPC's own services to a Connect router, which serves them
 * as gRPC, gRPC-Web and Connect.
 */
export function rpcRoutes(
  methods: readonly MethodHandler[],
  streams: EventStreams,
  addServices: readonly AddService[],
) {
  const handlers: [DescMethod, unknown][] = [
    ...methods.map((method): [DescMethod, unknown] => [method.desc, toHandler(method)]),
    [streams.desc, toStreamHandler(streams)],
  ]
  return (router: ConnectRouter): void => {
    for (const service of new Set(handlers.map(([desc]) => desc.parent))) {
      const own = handlers.filter(([desc]) => desc.parent === service)
      const implementation = Object.fromEntries(own.map(([desc, handler]) => [desc.localName, handler]))
      router.service(service, implementation as ServiceImpl<DescService>)
    }
    const own = router.handlers.map((handler) => {
      const isStream = handler.method.methodKind === 'server_streaming'
      return withMalformedRequests(isStream ? withSharedMessages(handler) : handler)
    })
    router.handlers.length = 0
    for (const add of addServices) add(router, { interceptors: [rejectMalformed] })
    const added = router.handlers.map((handler) =>
      handler.method.methodKind === 'unary' ? withMalformedRequests(handler) : handler,
    )
    router.handlers.splice(0, Infinity, ...[...own, ...added].map(withTimerDeadlines))
  }
}

function toHandler(method: MethodHandler): MethodImpl<MethodHandler['desc']> {
  return async (message, context) => {
    const start = performance.now()
    const call = toRpcContext(context)
    const count = (result: Parameters<MethodHandler['count']>[1]) =>
      method.count(call.protocol, result, (performance.now() - start) / 1000)
    try {
      if (context.values.get(stageKey) === 'unreadable') return await method.rejectMalformed(call)
      context.values.set(stageKey, 'reached')
      const request = message as ChainMessage
      await method.checkLimits(Number(request.chainId), call)
      const response = await method.handle(request, call)
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
