import { wordsOf } from './node-words.js'

/** Why a chain could not be read. `failed` says nothing of the contract: a later read may succeed. */
export type ReadFailure = 'failed' | 'absent' | 'no code'

/**
 * A view or another value of a chain could not be read. The message has the node's words, without the path, the query and the credentials of URLs. There
 * is no cause, because errors of viem have the whole URL.
 */
export class ChainReadError extends Error {
  override readonly name = 'ChainReadError'
  readonly failure: ReadFailure
  readonly #source: unknown

  constructor(failure: ReadFailure, message: string, source?: unknown) {
    super(message)
    this.failure = failure
    this.#source = source
  }

  /** What the request was rejected with; undefined after an answer. It may have the key of a node: it is only to be judged. */
  static sourceOf(error: ChainReadError): unknown {
    return error.#source
  }
}

/** The error of a read that the node did not answer. @param name what was read @param source what the request was rejected with */
export function unreadable(name: string, source: unknown): ChainReadError {
  return new ChainReadError('failed', `${name} could not be read: ${wordsOf(source)}`, source ?? null)
}

/** The error of a read whose answer is not what was asked for. */
export function oddAnswer(answer: unknown): ChainReadError {
  return new ChainReadError('failed', `the node answers ${JSON.stringify(answer)}`)
}
