import { http, ResponseBodyTooLargeError } from 'viem'
import { createNodeFetch } from './node-fetch.js'
import { AnswerTooLongError, MAX_ANSWER_BYTES, type RpcAnswer, type RpcConnection } from './rpc-connection.js'

/**
 * Builds the connection to an http or https URL. Each call under way has a TCP connection of its own, so that a slow one
 * delays no other. A body that is too long, or comes after the end of the call, closes its connection.
 * @param onResponse called with the status and the headers of each response
 */
export function createHttpRpcConnection(
  url: string,
  onResponse: (response: Pick<Response, 'status' | 'headers'>) => void,
): RpcConnection {
  const nodeFetch = createNodeFetch()
  const { request } = http(url, {
    raw: true,
    retryCount: 0,
    fetchFn: nodeFetch.fetch,
    maxResponseBodySize: MAX_ANSWER_BYTES,
    onFetchResponse: onResponse,
  })({})

  return {
    async call(method, params, signal) {
      const call = new AbortController()
      const end = () => call.abort()
      if (signal.aborted) end()
      signal.addEventListener('abort', end)
      try {
        return (await request({ method, params }, { signal: call.signal })) as RpcAnswer
      } catch (error) {
        if (error instanceof ResponseBodyTooLargeError) throw new AnswerTooLongError(error.message)
        throw error
      } finally {
        signal.removeEventListener('abort', end)
        end()
      }
    },
    close: nodeFetch.close,
  }
}
