import type { DescService } from '@bufbuild/protobuf'
import {
  type ConnectRouter,
  createContextKey,
  type HandlerContext,
  type MethodImpl,
  type ServiceImpl,
} from '@connectrpc/connect'
import { toServiceError } from '../domain/errors.js'
import { toConnectError } from './connect-errors.js'
import type { GuardedMethod } from './guard.js'
import type { Call, ChainMessage, Protocol } from './method.js'
import { stageKey, withUnreadableCalls } from './unreadable.js'

/** What the HTTP server knows of the request that a call came with. */
export const requestKey = createContextKey({ id: '', ip: '' })

/**
 * Puts guarded methods onto a Connect router, which serves them as gRPC, gRPC-Web and Connect. A method of
 * `services` that is not among `methods` answers UNIMPLEMENTED.
 */
export function rpcRoutes(services: readonly DescService[], methods: readonly GuardedMethod[]) {
  return (router: ConnectRouter): void => {
    for (const service of services) {
      const own = methods.filter((method) => method.desc.parent === service)
      const handlers = own.map((method) => [method.desc.localName, toHandler(method)])
      router.service(service, Object.fromEntries(handlers) as ServiceImpl<DescService>)
    }
    for (const [index, handler] of router.handlers.entries()) {
      if (handler.method.methodKind === 'unary') router.handlers[index] = withUnreadableCalls(handler)
    }
  }
}

function toHandler(method: GuardedMethod): MethodImpl<GuardedMethod['desc']> {
  return async (message, context) => {
    const start = performance.now()
    const call = toCall(context)
    const count = (result: Parameters<GuardedMethod['count']>[1]) =>
      method.count(call.protocol, result, (performance.now() - start) / 1000)
    try {
      if (context.values.get(stageKey) === 'unreadable') return await method.refuseUnreadable(call)
      context.values.set(stageKey, 'reached')
      const request = message as ChainMessage
      await method.admit(Number(request.chainId), call)
      const answer = await method.answer(request, call)
      count('OK')
      return answer
    } catch (thrown) {
      const error = toServiceError(thrown)
      count(error.reason)
      throw toConnectError(error)
    }
  }
}

function toCall(context: HandlerContext): Call {
  const request = context.values.get(requestKey)
  return {
    protocol: context.protocolName as Protocol,
    requestId: request.id,
    address: request.ip,
    setHeader: (name, value) => context.responseHeader.set(name, value),
    signal: context.signal,
    timeoutMs: context.timeoutMs(),
  }
}
