/** An answer of JSON-RPC that is not validated yet. */
export interface RpcAnswer {
  readonly result?: unknown
  readonly error?: unknown
}

/**
 * Calls one JSON-RPC endpoint for answers that a stranger may shape. No read of the chain is in a batch with such a call, or
 * waits for its connection.
 */
export interface RpcConnection {
  /**
   * Sends one call, never in a batch. It has no time limit but the signal.
   * @param signal ends the call, and drops what is left of its answer
   * @throws AnswerTooLongError; other errors when there is no answer
   */
  call(method: string, params: readonly unknown[], signal: AbortSignal): Promise<RpcAnswer>
  /** Ends all calls, and closes what is open. */
  close(): void
}

/** Learns of the responses of a node over HTTP: status and header `Retry-After`. */
export type OnResponse = (status: number, retryAfter: string | undefined) => void

/** A known revert has less than 1 KB. */
export const MAX_ANSWER_BYTES = 64 * 1024

/** The answer has more than MAX_ANSWER_BYTES. */
export class AnswerTooLongError extends Error {
  override readonly name = 'AnswerTooLongError'
}
