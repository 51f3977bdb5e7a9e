import { ConnectError, type Interceptor } from '@connectrpc/connect'
import { toServiceError } from '../domain/errors.js'
import { toConnectError } from './connect-errors.js'
import type { Client, RateLimits } from './rate-limits.js'
import { requestKey } from './rpc-context.js'

/** Counts every message that a caller sends on a stream against the global limit, also a broken one (docs/decisions.md, D8). */
export function limitMessages(rateLimits: RateLimits): Interceptor {
  async function count(client: Client): Promise<void> {
    try {
      await rateLimits.consume('global', client)
    } catch (thrown) {
      throw toConnectError(toServiceError(thrown))
    }
  }

  async function* counted<T>(messages: AsyncIterable<T>, client: Client): AsyncGenerator<T> {
    const iterator = messages[Symbol.asyncIterator]()
    for (;;) {
      const result = await iterator.next().catch(async (thrown) => {
        await count(client)
        throw thrown
      })
      if (result.done) return
      await count(client)
      yield result.value
    }
  }

  return (next) => (request) => {
    if (!request.stream) throw new ConnectError('This limit is for streams.')
    // The headers of the response are already sent when the second message comes.
    const client = { address: request.contextValues.get(requestKey).ip, setHeader: () => {} }
    return next({ ...request, message: counted(request.message, client) })
  }
}
