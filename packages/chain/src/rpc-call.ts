import type { Clock } from '../../../src/clock.js'
import { RpcError } from './rpc-error.js'

/** One call of JSON-RPC. */
export interface Call {
  readonly method: string
  readonly params: readonly unknown[]
}

/** What a call may cost its caller. */
export interface CallLimits {
  /** Bytes of the answer, or of the batch of answers. */
  readonly maxBytes: number
  /** Time until the answer begins; over HTTP, each 64 bytes of it give a millisecond more. */
  readonly timeoutMs: number
  /** Ends the call with its reason. */
  readonly signal?: AbortSignal | undefined
}

export function toMessage(id: number, { method, params }: Call) {
  return { jsonrpc: '2.0', id, method, params }
}

export const CLOSED = 'the client is closed'

export function lost(message: string): RpcError {
  return new RpcError('lost', message)
}

export function tooLong(maxBytes: number): RpcError {
  return new RpcError('too_long', `the answer of the node has more than ${maxBytes} bytes`)
}

export function tooLate(timeoutMs: number): RpcError {
  return new RpcError('lost', `the node does not answer within ${timeoutMs} ms`, { isTimeout: true })
}

/**
 * Waits for an answer within the limits of a call.
 * @throws RpcError after its time, and the reason of the signal; the work itself goes on
 */
export function within<T>(
  clock: Clock,
  { timeoutMs, signal }: Pick<CallLimits, 'timeoutMs' | 'signal'>,
  work: Promise<T>,
): Promise<T> {
  let end = () => {}
  const ended = new Promise<never>((_resolve, reject) => {
    const onAbort = () => reject(signal?.reason)
    const timer = clock.setTimeout(() => reject(tooLate(timeoutMs)), timeoutMs)
    signal?.addEventListener('abort', onAbort)
    if (signal?.aborted) onAbort()
    end = () => {
      timer.stop()
      signal?.removeEventListener('abort', onAbort)
    }
  })
  return Promise.race([work, ended]).finally(() => end())
}
