import type { ConnectRouter } from '@connectrpc/connect'
import type { UniversalHandler } from '@connectrpc/connect/protocol'

/**
 * Replaces each handler of a Connect router. Interceptors cannot do the same: they do not see the bytes of a message, nor
 * calls whose message cannot be read. The list `handlers` and its functions are public types without a documented use.
 * Checked with @connectrpc/connect 2.1.2.
 */
export function wrapHandlers(
  router: ConnectRouter,
  wrap: (handler: UniversalHandler) => UniversalHandler,
): void {
  router.handlers.splice(0, Infinity, ...router.handlers.map(wrap))
}
