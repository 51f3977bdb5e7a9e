import { ConnectError, type Interceptor } from '@connectrpc/connect'
import { toServiceError } from '../domain/errors.js'
import { toConnectError } from './connect-errors.js'
import { requestKey } from './rpc-context.js'

/**
 * Turns the errors of methods into those of RPC callers, and records them for the log. Connect's own errors stay as they are:
 * those of bytes that are not a message, and those of the connection.
 */
export const withErrors: Interceptor = (next) => async (request) => {
  const { recordError } = request.contextValues.get(requestKey)
  const fail = (thrown: unknown): never => {
    if (thrown instanceof ConnectError) throw thrown
    const error = toServiceError(thrown)
    recordError(error)
    throw toConnectError(error)
  }
  async function* mapped<T>(messages: AsyncIterable<T>): AsyncGenerator<T> {
    try {
      yield* messages
    } catch (thrown) {
      // Connect also throws into a stream what failed when it wrote to a client that has left.
      if (request.signal.aborted) throw thrown
      fail(thrown)
    }
  }
  try {
    const response = await next(request)
    return response.stream ? { ...response, message: mapped(response.message) } : response
  } catch (thrown) {
    return fail(thrown)
  }
}
